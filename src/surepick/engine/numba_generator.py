"""NumPy's generators in compiled code: the fence around numba's structure for them and llvmlite.

numba takes generators of NumPy as arguments, one by one; an exploration has one an arm. So the one that is needed is made from
the address of its ``bitgen_t``, which NumPy makes public: with llvmlite the four fields of numba's structure (``_FIELDS``) are
filled, and numba's own methods for normal and beta numbers, which give the same as NumPy's, are called with it.

Seen so in numba 0.61, 0.64 and 0.68. Where it is otherwise ``DRAWS`` is False: NumPy draws the same values for compiled loops.
"""

from __future__ import annotations

from .compile import tight

__all__ = ["DRAWS", "generator", "next_double", "random_beta", "random_standard_normal"]

# Where numba keeps what bitgen_t lists in this order.
_FIELDS = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")

try:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.datamodel import default_manager
    from numba.extending import intrinsic
    from numba.np.random.distributions import random_beta, random_standard_normal
    from numba.np.random.generator_core import next_double

    _bits = types.NumPyRandomBitGeneratorType("bit_generator")
    DRAWS = set(_FIELDS) <= set(default_manager.lookup(_bits)._fields)
except (ImportError, AttributeError, KeyError):
    DRAWS = False

if DRAWS:

    @intrinsic
    def generator(typing_context, address):
        """The generator of NumPy whose bitgen_t is at an address."""

        def generate(context, builder, signature, arguments):
            found = cgutils.create_struct_proxy(_bits)(context, builder)
            word = context.get_value_type(types.uintp)
            pointer = builder.inttoptr(builder.bitcast(arguments[0], word), ir.PointerType(word))
            for k, field in enumerate(_FIELDS):
                setattr(found, field, builder.load(builder.gep(pointer, [ir.Constant(word, k)])))
            return found._getvalue()

        return _bits(types.int64), generate

else:  # never called, but compiled with their callers

    @tight
    def generator(address):
        return address

    @tight
    def next_double(bits):
        return 0.0

    @tight
    def random_standard_normal(bits):
        return 0.0

    @tight
    def random_beta(bits, a, b):
        return 0.0
