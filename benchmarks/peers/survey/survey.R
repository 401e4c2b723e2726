# Reference figures of R's package survey for ours: means, totals, shares and ratios of stratified samples without replacement.
#
#   Rscript survey.R > survey.csv
#
# in this folder, with r-cran-survey. Missing answers are left out question by question, as surepick does, so that weights are
# N_h / r_h. Columns: table, figure, variable, domain, estimate, se, deff, lower, upper, df.

suppressMessages(library(survey))

line <- function(...) cat(paste(sapply(list(...), function(x) if (is.numeric(x)) sprintf("%.12g", x) else x), collapse = ","), "\n", sep = "")

compare <- function(table, frame, answers, variables, shares = character(), by = NULL, ratios = list()) {
  design <- function(questions) {
    known <- answers[complete.cases(answers[questions]), ]
    known <- merge(known, frame[intersect(names(frame), c("stratum", "N", "domain"))], by = "stratum")
    svydesign(ids = ~1, strata = ~stratum, fpc = ~N, data = known)
  }
  domains <- function(d) {
    found <- list(all = d)
    for (name in unique(frame$domain)) found[[name]] <- subset(d, domain == name)
    if (!is.null(by)) for (name in sort(unique(answers[[by]]))) found[[paste0(by, "=", name)]] <- d[d$variables[[by]] == name, ]
    found
  }
  for (variable in variables) {
    parts <- domains(design(variable))
    question <- as.formula(paste0("~", variable))
    for (name in names(parts)) {
      d <- parts[[name]]
      df <- degf(d)
      mean <- svymean(question, d, deff = TRUE)
      ends <- if (variable %in% shares) attr(svyciprop(question, d, method = "logit", df = df), "ci") else confint(mean, df = df)
      line(table, if (variable %in% shares) "share" else "mean", variable, name, coef(mean), SE(mean), deff(mean), ends[1], ends[2], df)
      total <- svytotal(question, d, deff = TRUE)
      ends <- confint(total, df = df)
      line(table, "total", variable, name, coef(total), SE(total), deff(total), ends[1], ends[2], df)
    }
  }
  for (pair in ratios) {
    parts <- domains(design(pair))
    for (name in names(parts)) {
      d <- parts[[name]]
      df <- degf(d)
      ratio <- svyratio(as.formula(paste0("~", pair[1])), as.formula(paste0("~", pair[2])), d)
      ends <- confint(ratio, df = df)
      line(table, "ratio", paste(pair, collapse = " / "), name, coef(ratio), SE(ratio), "", ends[1], ends[2], df)
    }
  }
}

cat("table,figure,variable,domain,estimate,se,deff,lower,upper,df\n")
answers <- read.csv("answers.csv")
answers$owner <- as.numeric(answers$owner == "yes")
compare("made up", read.csv("frame.csv"), answers, c("income", "rent", "owner"), "owner", "sex", list(c("rent", "income")))
wooded <- read.csv("../../../examples/strata.csv")
compare("wooded", wooded, read.csv("../../../examples/wooded.csv"), "value")
