"""Answers cases that come as a JSON list of [kind, argument, ...] with scipy and statsmodels."""

import json
import sys
import types
import warnings

import numpy
from scipy import optimize, special, stats
from statsmodels.stats import contingency_tables, inter_rater, multitest, power, proportion

warnings.simplefilter("ignore")


def wilcoxon(differences):
    result = stats.wilcoxon(differences)
    return [float(result.statistic), float(result.pvalue)]


def mcnemar(baseline_only, candidate_only):
    table = [[0, candidate_only], [baseline_only, 0]]
    return float(contingency_tables.mcnemar(table, exact=True).pvalue)


def newcombe(both, baseline_only, candidate_only, neither, alpha):
    """Method 10 in the notation of Newcombe's paper, from statsmodels' Wilson intervals."""
    e, f, g, h = both, candidate_only, baseline_only, neither
    n = e + f + g + h
    low2, high2 = proportion.proportion_confint(e + f, n, alpha, method="wilson")
    low3, high3 = proportion.proportion_confint(e + g, n, alpha, method="wilson")
    theta = (f - g) / n
    dl2, du2 = (e + f) / n - low2, high2 - (e + f) / n
    dl3, du3 = (e + g) / n - low3, high3 - (e + g) / n
    product = (e + f) * (g + h) * (e + g) * (f + h)
    phi = 0.0
    if product != 0:
        numerator = e * h - f * g
        if numerator > n / 2:
            numerator -= n / 2
        elif numerator >= 0:
            numerator = 0
        phi = numerator / product**0.5
    delta = (dl2**2 - 2 * phi * dl2 * du3 + du3**2) ** 0.5
    epsilon = (du2**2 - 2 * phi * du2 * dl3 + dl3**2) ** 0.5
    return [float(theta - delta), float(theta + epsilon)]


def tango(wins, losses, total, alpha):
    """The score interval with the constrained likelihood maximized by a search, not by Tango's formula."""
    z = stats.norm.isf(alpha / 2)

    def score(delta):
        def unlikelihood(loss):
            cells = [(wins, loss + delta), (losses, loss), (total - wins - losses, 1 - 2 * loss - delta)]
            return -sum(special.xlogy(count, max(share, 1e-300)) for count, share in cells)

        low, high = max(0.0, -delta), (1 - delta) / 2
        loss = optimize.minimize_scalar(
            unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
        ).x
        variance = total * (2 * loss + delta - delta**2)
        return (wins - losses - total * delta) / max(variance, 1e-300) ** 0.5

    estimate = (wins - losses) / total
    low = optimize.brentq(lambda delta: score(delta) - z, -1 + 1e-9, estimate - 1e-9, xtol=1e-12)
    high = optimize.brentq(lambda delta: score(delta) + z, estimate + 1e-9, 1 - 1e-9, xtol=1e-12)
    return [low, high]


def cohens_kappa(table, weights):
    kind = {"none": None, "linear": "linear", "quadratic": "quadratic"}[weights]
    return float(inter_rater.cohens_kappa(table, wt=kind, return_results=False))


def krippendorff(items, level):
    """By the definition: every pair of ratings of an item, and of all ratings."""
    units = [[r for r in item if r is not None] for item in items]
    units = [unit for unit in units if len(unit) > 1]
    every = [r for unit in units for r in unit]
    counts = {r: every.count(r) for r in every}

    def delta(a, b):
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float(a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count for r, count in counts.items() if low <= r <= high)
        return (between - (counts[a] + counts[b]) / 2) ** 2 if a != b else 0.0

    observed = sum(sum(delta(a, b) for a in unit for b in unit) / (len(unit) - 1) for unit in units) / len(every)
    pairs = sum(counts[a] * counts[b] * delta(a, b) for a in counts for b in counts)
    expected = pairs / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def difference(x, y, axis=-1):
    return numpy.mean(y, axis=axis) - numpy.mean(x, axis=axis)


def bootstrap(baseline, candidate, alpha, resamples, seed):
    """The interval and standard error of resamples that scipy draws."""
    result = stats.bootstrap(
        (baseline, candidate),
        difference,
        paired=True,
        vectorized=True,
        method="BCa",
        confidence_level=1 - alpha,
        n_resamples=resamples,
        batch=1000,
        rng=numpy.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return [float(low), float(high), float(result.standard_error)]


def bca(baseline, candidate, alpha, means):
    """The interval that scipy makes of given resamples."""
    drawn = types.SimpleNamespace(bootstrap_distribution=numpy.array(means))
    result = stats.bootstrap(
        (baseline, candidate),
        difference,
        paired=True,
        vectorized=True,
        method="BCa",
        confidence_level=1 - alpha,
        n_resamples=0,
        bootstrap_result=drawn,
    )
    return [float(bound) for bound in result.confidence_interval]


def permutation(differences, permutations, seed):
    result = stats.permutation_test(
        (differences,),
        lambda d, axis=-1: numpy.mean(d, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=permutations,
        batch=1000,
        rng=numpy.random.default_rng(seed),
    )
    return float(result.pvalue)


def betting(differences, stakes, mean):
    """The wealth of a player who bets on a mean above `mean`."""
    ratio = (1 + numpy.array(differences)) / (1 + mean)
    return float(numpy.mean([numpy.prod(1 + stake * (ratio - 1)) for stake in stakes]))


def mixture(total, variance):
    """The Gaussian mixture of exp(ls - l^2 t / 2) with t = 1, by quadrature."""
    from scipy import integrate

    def density(rate):
        return numpy.exp(rate * total - rate**2 / 2) * stats.norm.pdf(rate, scale=variance**0.5)

    return float(integrate.quad(density, -40, 40, points=[total], limit=500, epsabs=0, epsrel=1e-12)[0])


KINDS = {
    "cdf": lambda values: special.ndtr(values).tolist(),
    "quantile": lambda values: special.ndtri(values).tolist(),
    "student": lambda alpha, degrees: float(stats.t.isf(alpha / 2, degrees)),
    "wilcoxon": wilcoxon,
    "mcnemar": mcnemar,
    "newcombe": newcombe,
    "tango": tango,
    "holm": lambda values: multitest.multipletests(values, method="holm")[1].tolist(),
    "cohens": cohens_kappa,
    "fleiss": lambda counts: float(inter_rater.fleiss_kappa(numpy.array(counts))),
    "krippendorff": krippendorff,
    "bootstrap": bootstrap,
    "bca": bca,
    "permutation": permutation,
    "power": lambda count: float(power.TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8)),
    "betting": betting,
    "mixture": mixture,
}

print(json.dumps([KINDS[kind](*arguments) for kind, *arguments in json.load(sys.stdin)]))
