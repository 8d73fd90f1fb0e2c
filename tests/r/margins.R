# Reference numbers for tests/statistics/inference/test_factors.py: average contrasts of the levels of factors with their reference
# levels, and their standard errors by the delta method.
# Run in this folder: Rscript margins.R > margins.json
# Needs R's nnet, brglm2, carData and numDeriv, and ../../docs/data/birthwt.csv; numbers are printed with 17 digits, which
# read back to the same doubles. Effects are differences of mean predictions over all rows, each set to a level, as
# margins and marginaleffects::avg_comparisons define them; their gradients in the coefficients are numerical.
suppressMessages({library(nnet); library(brglm2); library(numDeriv)})

number <- function(x) sprintf("%.17g", x)
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
words <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
tight <- glm.control(epsilon = 1e-14, maxit = 200)

# A matrix of a contrast's rows: those of the level and those of the reference level.
contrasts_of <- function(formula, data, factors) {
  design <- function(rows) model.matrix(delete.response(terms(formula)), rows)
  pairs <- list()
  for (name in factors) {
    levels <- levels(data[[name]])
    set <- function(level) {
      rows <- data
      rows[[name]] <- factor(level, levels)
      design(rows)
    }
    for (level in levels[-1]) pairs[[paste0(name, "=", level)]] <- list(set(level), set(levels[1]))
  }
  pairs
}

printed <- function(names, effect, error) paste0(
  "{\n    \"names\": ", words(names), ",\n    \"effect\": ", vector(effect), ",\n    \"std_err\": ", vector(error), "\n  }")

# For one score: P is the inverse link, and z has the offset.
of_glm <- function(formula, data, factors, link = "logit", offset = 0, weights = 1,
                   model = glm(formula, binomial(link), data, control = tight)) {
  P <- binomial(link)$linkinv
  weights <- rep(weights, length.out = nrow(data))
  pairs <- contrasts_of(formula, data, factors)
  found <- sapply(pairs, function(pair) {
    effect <- function(beta) weighted.mean(P(offset + pair[[1]] %*% beta) - P(offset + pair[[2]] %*% beta), weights)
    gradient <- grad(effect, coef(model))
    c(effect(coef(model)), sqrt(gradient %*% vcov(model) %*% gradient))
  })
  printed(names(pairs), found[1, ], found[2, ])
}

birth <- read.csv("../../docs/data/birthwt.csv", stringsAsFactors = TRUE)
birth <- within(birth, {race <- relevel(race, "white"); low <- as.integer(low == "yes")})
risks <- low ~ age + lwt + race + smoke + ptd + ht + ui
few <- low ~ age + lwt + race + smoke
products <- low ~ age + lwt + race * smoke + age:race
categories <- c("race", "smoke", "ptd", "ht", "ui")
birth$counts <- 1 + seq_len(nrow(birth)) %% 3
birth$known <- (birth$age %% 5) / 4
reduced <- glm(few, binomial, birth, method = "brglmFit", type = "AS_mean", epsilon = 1e-13, maxit = 1000)

# The passengers of the Titanic of known age, in carData, and all on board by class, sex and age group, in R itself.
passengers <- within(na.omit(carData::TitanicSurvival), y <- as.integer(survived == "yes"))
titanic <- as.data.frame(Titanic)
titanic <- titanic[rep(seq_len(nrow(titanic)), titanic$Freq), ]
titanic <- within(titanic, {Age <- relevel(Age, "Adult"); Sex <- relevel(Sex, "Female"); y <- as.integer(Survived == "Yes")})

# Several classes: the diet of alligators (Agresti, Categorical Data Analysis, section 7.1.2), written out by counts.
data(alligators, package = "brglm2")
eaten <- alligators[rep(seq_len(nrow(alligators)), alligators$freq), ]
diet <- foodchoice ~ size + lake
chosen <- multinom(diet, eaten, trace = FALSE, maxit = 2000, abstol = 1e-14, reltol = 1e-14)
of_multinom <- function(model, formula, data, factors) {
  B <- coef(model)
  probabilities <- function(M, b) {
    z <- cbind(0, M %*% t(matrix(b, nrow(B), byrow = TRUE)))
    colMeans(exp(z) / rowSums(exp(z)))
  }
  pairs <- contrasts_of(formula, data, factors)
  found <- lapply(pairs, function(pair) {
    effect <- function(b) probabilities(pair[[1]], b) - probabilities(pair[[2]], b)
    G <- jacobian(effect, as.vector(t(B)))
    cbind(effect(as.vector(t(B))), sqrt(diag(G %*% vcov(model) %*% t(G))))
  })
  table <- do.call(rbind, found)
  printed(paste(rep(names(pairs), each = length(model$lev)), rep(model$lev, length(pairs)), sep = "; "),
          table[, 1], table[, 2])
}

cat("{\n",
  '  "r": "', R.version.string, '",\n',
  '  "birthwt": ', of_glm(risks, birth, categories), ",\n",
  '  "birthwt few": ', of_glm(few, birth, c("race", "smoke")), ",\n",
  '  "probit": ', of_glm(risks, birth, categories, "probit"), ",\n",
  '  "products": ', of_glm(products, birth, c("race", "smoke")), ",\n",
  '  "counts": ', of_glm(few, birth, c("race", "smoke"), weights = birth$counts,
                         model = glm(few, binomial, birth, weights = counts, control = tight)), ",\n",
  '  "offset": ', of_glm(few, birth, c("race", "smoke"), offset = birth$known,
                         model = glm(few, binomial, birth, offset = known, control = tight)), ",\n",
  '  "firth": ', of_glm(few, birth, c("race", "smoke"), model = reduced), ",\n",
  '  "passengers": ', of_glm(y ~ sex + age + passengerClass, passengers, c("sex", "passengerClass")), ",\n",
  '  "titanic": ', of_glm(y ~ Class + Age + Sex, titanic, c("Class", "Age", "Sex")), ",\n",
  '  "alligators": ', of_multinom(chosen, diet, eaten, c("size", "lake")), "\n",
  "}\n", sep = "")
