"""Opinions on a social network in their steady state, polled group by group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Floats, Ints
from ..checks import MANY, SEEDS, entries, label, numbers, real, short, whole
from ..engine.enums import Law
from ..errors import ProblemError
from .base import Environment, Laws


class VoterModel(Environment):
    """People who copy their neighbours' opinions, or fall back on their own; each group of people is an arm.

    At every step a person returns to the innate opinion with a probability of their own, the stubbornness, and otherwise
    takes over the present opinion of a random neighbour. A sample of a group is the opinion, in the steady state, of a
    random member.

    Parameters
    ----------
    groups : sequence of labels
        The group of every person. Groups are arms in the order of their first appearance.
    edges : iterable of (u, v)
        Who knows whom, as positions in ``groups``; both copy each other. Naming a pair again, either way round, adds
        nothing. People without neighbours keep their innate opinion.
    innate : array of numbers in [0, 1]
        The innate opinion of every person.
    stubbornness : number in (0, 1] or array of them
        For everybody, or one a person.

    Attributes
    ----------
    names : tuple of str
        The groups.
    sizes : array of int
        People in each group.
    group : array of int
        The arm of every person.
    support, probabilities : arrays
        The opinions that occur and, with one row an arm, how likely a sample is each of them.

    Notes
    -----
    By duality the opinion of v in the steady state is the innate opinion of the person at whom a random walk from v stops:
    at every person w it stops with probability s_w and otherwise goes on to a random neighbour. With W the walk's step, the
    walk from a random member of a group (distribution q) stops at w with probability

        π = S x,   x = (I - Wᵀ (I - S))⁻¹ q,

    so means and variances are exact. Because ties are mutual, dividing x by d / (1 - s), d the number of neighbours, makes
    the system symmetric and positive definite; conjugate gradients then solve it for 100,000 people in about a second.

    References
    ----------
    W. Huang, L. Li, W. Chen: Partitioned sampling of public opinions based on their social dynamics. AAAI 2017.

    Examples
    --------
    Ann and Bob know each other; Cid knows nobody. A walk from Ann stops at Ann with probability 2/3.

    >>> from surepick.environments import VoterModel
    >>> world = VoterModel(["Ann", "Bob", "Cid"], edges=[(0, 1)], innate=[1, 0, 0.5], stubbornness=0.5)
    >>> world.means.round(4)
    array([0.6667, 0.3333, 0.5   ])
    """

    names: tuple[str, ...]
    group: Ints
    support: Floats

    def __init__(
        self,
        groups: Sequence[Hashable],
        edges: Iterable[tuple[int, int]],
        innate: ArrayLike,
        stubbornness: ArrayLike = 0.1,
    ) -> None:
        self.names, self.group = _label(groups)
        self.sizes: Ints = np.bincount(self.group).astype(np.int64)
        n = len(self.group)
        self.edges: Ints = _pairs(edges, n)
        self.innate: Floats = _shares(innate, "innate", n, "people")
        self.stubbornness: Floats = _shares(stubbornness, "stubbornness", n, "people")
        if not self.stubbornness.all():
            raise ProblemError(
                f"stubbornness[{np.argmin(self.stubbornness)}] = 0: give a number above 0. Walks must be able to stop "
                "everywhere, or there may be no single steady state.",
                key="stubbornness",
            )
        stops = _stops(self.group, self.sizes, self.edges, self.stubbornness)
        self.support, opinion = np.unique(self.innate, return_inverse=True)
        k = len(self.support)
        weights = np.array([np.bincount(opinion, weights=row, minlength=k) for row in stops])
        # Dividing by the last sum makes it exactly 1, also where the last opinions cannot occur: no draw falls behind it.
        self._cdf = np.cumsum(weights, axis=1)
        self._cdf /= self._cdf[:, -1:]
        self.probabilities: Floats = weights / weights.sum(axis=1, keepdims=True)
        self.means: Floats = self.probabilities @ self.support
        self.variances: Floats = (self.probabilities * (self.support - self.means[:, None]) ** 2).sum(axis=1)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        return self.support[np.searchsorted(self._cdf[arm], rng.random(n), side="right")]

    def law(self) -> Laws:
        starts, numbers = len(self.support) * np.arange(1, self.m + 2), np.concatenate((self.support, self._cdf.ravel()))
        least, most = np.full(self.m, self.support[0]), np.full(self.m, self.support[-1])
        return Laws(Law.TABLE, starts, numbers, least, most, binary=bool(np.isin(self.support, (0, 1)).all()))

    @classmethod
    def random(
        cls,
        sizes: Sequence[int],
        *,
        share: ArrayLike | None = None,
        ties: float = 8.0,
        homophily: float = 0.9,
        stubbornness: ArrayLike = 0.2,
        names: Sequence[Hashable] | None = None,
        seed: int = 0,
    ) -> VoterModel:
        """A random social network in which people mostly know people of their own group.

        Parameters
        ----------
        sizes : sequence of int
            People in each group.
        share : number in [0, 1] or array of them, optional
            The share of people whose innate opinion is 1 (0 for the others), for all groups or one a group, rounded to whole
            people. By default from 5 % in the first group evenly up to 50 % in the last, so that variances differ.
        ties : float
            How many people a person knows on average.
        homophily : float in [0, 1]
            The share of ties within a group; the others are between people of different groups.
        stubbornness : number in (0, 1] or array of them
            For everybody, or one a group.
        names : sequence of str, optional
            The names of the groups; by default "group 0", "group 1", …
        seed : int
            The same seed makes the same network.

        Examples
        --------
        >>> from surepick.environments import VoterModel
        >>> world = VoterModel.random([300, 100, 200], homophily=0.95, seed=1)
        >>> world.names, len(world.edges)
        (('group 0', 'group 1', 'group 2'), 2400)
        >>> world.means.round(2)
        array([0.08, 0.26, 0.44])
        """
        listed = entries(sizes)
        if isinstance(sizes, (str, bytes)) or not listed:
            raise ProblemError(
                f"sizes must be the number of people in each of at least one group, not {short(sizes)}.", key="sizes"
            )
        count = [whole(size, f"sizes[{i}]", 1, MANY, ProblemError) for i, size in enumerate(listed)]
        m, n = len(count), sum(count)
        if n > MANY:
            raise ProblemError(f"The sizes add up to {n:,} people, above {MANY:,}, the most that is supported.", key="sizes")
        labels = [f"group {i}" for i in range(m)] if names is None else entries(names)
        if labels is None or len(labels) != m or not all(map(label, labels)) or len(set(labels)) != m:
            raise ProblemError(f"There are {m} groups: give {m} different names, not {short(names)}.", key="names")
        shares = _shares(np.linspace(0.05, 0.5, m) if share is None else share, "share", m, "groups")
        stubborn = _shares(stubbornness, "stubbornness", m, "groups")
        within = float(_shares(homophily, "homophily", 1, "networks")[0])
        known = real(ties)
        if known is None or not 0 <= known <= n:
            raise ProblemError(f"ties must be a number from 0 to {n:,}, the number of people, not {short(ties)}.", key="ties")

        rng = np.random.default_rng(whole(seed, "seed", 0, SEEDS, ProblemError))
        people, end = np.arange(n), np.cumsum(count)
        edges = []
        for name, size, stop in zip(labels, count, end, strict=True):
            members = people[stop - size : stop]
            wanted = round(within * known * size / 2)
            edges.append(_draw(members, members + 1, np.full(size, stop), wanted, f"within {name!r}", rng))
        wanted = round((1 - within) * known * n / 2)
        edges.append(_draw(people, np.repeat(end, count), np.full(n, n), wanted, "between groups", rng))
        # Who is who within a group makes no difference to how ties are drawn: the first ones may hold opinion 1.
        innate = np.concatenate([np.arange(size) < round(part * size) for size, part in zip(count, shares, strict=True)])
        groups = [name for name, size in zip(labels, count, strict=True) for _ in range(size)]
        return cls(groups, np.concatenate(edges), innate, np.repeat(stubborn, count))


def _stops(group: Ints, sizes: Ints, edges: Ints, stubbornness: Floats) -> Floats:
    """π: row g holds where the walk from a random member of group g stops."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import cg

    n = len(group)
    u, v = edges.T
    adjacency = coo_array((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])), shape=(n, n)).tocsr()
    degree = adjacency.sum(axis=1)
    s = np.where(degree > 0, stubbornness, 1.0)
    # x = q + adjacency z, where z_w = x_w (1 - s_w) / d_w counts the walks that go on from w to any one neighbour.
    on = np.flatnonzero(s < 1)
    diagonal = degree[on] / (1 - s[on])
    system = diags_array(diagonal).tocsr() - adjacency[on][:, on]
    jacobi = diags_array(1 / diagonal)
    stops = np.empty((len(sizes), n))
    for g, size in enumerate(sizes):
        q = (group == g) / size
        z = np.zeros(n)
        if len(on):
            with np.errstate(all="ignore"):
                z[on], failed = cg(system, q[on], rtol=1e-14, atol=0.0, M=jacobi)
            if failed or not np.isfinite(z).all():
                raise ProblemError(
                    f"The steady state could not be computed: the smallest stubbornness, {s.min():g}, is too near 0.",
                    key="stubbornness",
                )
        stops[g] = s * (q + adjacency @ np.maximum(z, 0))
    return stops


def _draw(people: Ints, first: Ints, stop: Ints, k: int, where: str, rng: np.random.Generator) -> Ints:
    """k different pairs (u, v) with first[u] <= v < stop[u], all equally likely."""
    ends = np.cumsum(stop - first)
    pairs = int(ends[-1])
    if k > pairs:
        raise ProblemError(
            f"There are {pairs} pairs of people {where}, too few for {k} ties; choose fewer ties, larger groups "
            "or another homophily.",
            key="ties",
        )
    picked = np.sort(rng.choice(pairs, size=k, replace=False, shuffle=False))
    u = np.searchsorted(ends, picked, side="right")
    return np.column_stack((people[u], stop[u] - (ends[u] - picked)))


def _label(groups: Sequence[Hashable]) -> tuple[tuple[str, ...], Ints]:
    """The names of the groups and the index of everybody's group."""
    labels = entries(groups)
    if labels is None or not all(map(label, labels)):
        raise ProblemError("groups must be a flat list with one label a person, such as a text or a number.", key="groups")
    index = {one: g for g, one in enumerate(dict.fromkeys(labels))}
    if not labels:
        raise ProblemError("There are no people; give the group of at least one.", key="groups")
    names = tuple(str(one) for one in index)
    if len(set(names)) < len(names):
        raise ProblemError(f"Two groups read the same: {short(names)}. Use either texts or numbers as labels.", key="groups")
    return names, np.array([index[one] for one in labels], dtype=np.int64)


def _pairs(edges: Iterable[tuple[int, int]], n: int) -> Ints:
    """Every tie once, as (u, v) with u < v."""
    given = edges if isinstance(edges, np.ndarray) else entries(edges)
    array = numbers(given)
    if array is not None and array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array is None or array.ndim != 2 or array.shape[1] != 2 or np.asarray(given).dtype.kind not in "iu":
        raise ProblemError("edges must be pairs (u, v) of whole numbers, the positions of two people in groups.", key="edges")
    wrong = np.flatnonzero((array < 0).any(axis=1) | (array >= n).any(axis=1))
    if len(wrong):
        pair = tuple(map(int, array[wrong[0]]))
        raise ProblemError(
            f"edges[{wrong[0]}] = {pair} names somebody who is not there: people are 0 to {n - 1}.", key=f"edges[{wrong[0]}]"
        )
    wrong = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(wrong):
        raise ProblemError(
            f"edges[{wrong[0]}] ties person {array[wrong[0], 0]:g} to themselves; leave it out.", key=f"edges[{wrong[0]}]"
        )
    pairs = array.astype(np.int64)
    return np.column_stack(np.divmod(np.unique(pairs.min(axis=1) * n + pairs.max(axis=1)), n))


def _shares(values: ArrayLike, what: str, n: int, whose: str) -> Floats:
    """n numbers from 0 to 1; a single number serves all."""
    array = numbers(values)
    if array is None or array.ndim > 1:
        raise ProblemError(f"{what} must be a number or a flat list of numbers, not {short(values)}.", key=what)
    if array.ndim == 0:
        array = np.full(n, array)
    if len(array) != n:
        raise ProblemError(f"There are {n} {whose} but {len(array)} numbers in {what}: give one for each.", key=what)
    wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(wrong):
        raise ProblemError(f"{what}[{wrong[0]}] = {array[wrong[0]]} must be a number from 0 to 1.", key=f"{what}[{wrong[0]}]")
    return array
