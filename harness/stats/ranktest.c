// SPDX-License-Identifier: GPL-2.0-or-later
// Mann-Whitney by counting: how many ways of sharing the ranks are as extreme as this one?
#include "harness/stats/ranktest.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"

static double choose(size_t n, size_t k)
{
	double result = 1;

	k = MIN(k, n - k);
	for (size_t i = 1; i <= k && isfinite(result); i++)
		result = result * (double)(n - k + i) / (double)i;
	return result;
}

double rank_test_min_p(size_t n_a, size_t n_b)
{
	return 1 / choose(n_a + n_b, n_a);
}

size_t rank_test_boots(double error, size_t tests)
{
	size_t n = 1;

	if (!(error > 0 && error < 1) || !tests)
		return 0;
	while (2 * rank_test_min_p(n, n) > error / (double)tests)
		n++;
	return n;
}

/*
 * The number of ways to get each U is a coefficient of the Gaussian binomial
 * prod_i (1 - q^(b + i)) / (1 - q^i). Multiplying by one factor at a time in doubles is good
 * to 1e-14 at 100 x 100 in the lower half; the upper one is its mirror image.
 */
void rank_null_init(struct rank_null *null, size_t n_a, size_t n_b)
{
	size_t few = MIN(n_a, n_b), many = MAX(n_a, n_b), last;
	double *ways, total = choose(n_a + n_b, few);

	*null = (struct rank_null){ .n_a = n_a, .n_b = n_b };
	if (many > RANK_EXACT_PAIRS || few * many > RANK_EXACT_PAIRS)
		return;
	last = few * many / 2;
	ways = xcalloc(last + 1, sizeof(*ways));
	ways[0] = 1;
	for (size_t i = 1; i <= few; i++) {
		for (size_t u = last; u >= many + i; u--)
			ways[u] -= ways[u - many - i];
		for (size_t u = i; u <= last; u++)
			ways[u] += ways[u - i];
	}
	ways[0] /= total;
	for (size_t u = 1; u <= last; u++)
		ways[u] = ways[u - 1] + ways[u] / total;
	null->at_most = ways;
}

void rank_null_release(struct rank_null *null)
{
	free(null->at_most);
	null->at_most = NULL;
}

static double null_sigma(double n_a, double n_b, double ties)
{
	double n = n_a + n_b;

	return sqrt(n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1))));
}

size_t rank_null_critical(const struct rank_null *null, double alpha)
{
	double n_a = (double)null->n_a, n_b = (double)null->n_b, c;
	size_t u = 0;

	if (!null->n_a || !null->n_b || !(alpha > 0 && alpha < 0.5))
		return 0;
	if (!null->at_most) {
		c = n_a * n_b / 2 + 0.5 + dist_normal_quantile(alpha) * null_sigma(n_a, n_b, 0);
		return c >= 1 ? (size_t)c : 0;
	}
	while (u <= null->n_a * null->n_b / 2 && null->at_most[u] <= alpha)
		u++;
	return u;
}

/* All values of both sides in ascending order, each with its midrank. */
struct pooled {
	size_t n, n_a, n_b;
	double ties;	 /* sum of t^3 - t over groups of t equal values */
	size_t *rank2;	 /* midranks, doubled so that they are whole */
	size_t sum2_b;	 /* rank2 summed over b */
};

struct pooled_value {
	double value;
	bool is_b;
};

static int compare_pooled(const void *pa, const void *pb)
{
	double a = ((const struct pooled_value *)pa)->value;
	double b = ((const struct pooled_value *)pb)->value;

	return (a > b) - (a < b);
}

static struct pooled_value *pool(const double *a, size_t n_a, const double *b, size_t n_b)
{
	struct pooled_value *all = xcalloc(n_a + n_b, sizeof(*all));

	for (size_t i = 0; i < n_a; i++)
		all[i].value = a[i];
	for (size_t i = 0; i < n_b; i++)
		all[n_a + i] = (struct pooled_value){ b[i], true };
	qsort(all, n_a + n_b, sizeof(*all), compare_pooled);
	return all;
}

static void pooled_rank(struct pooled *p, const struct pooled_value *all)
{
	for (size_t start = 0, end; start < p->n; start = end) {
		double equal;

		for (end = start + 1; end < p->n && all[end].value == all[start].value;)
			end++;
		equal = (double)(end - start);
		p->ties += equal * equal * equal - equal;
		for (size_t i = start; i < end; i++) {
			p->rank2[i] = start + 1 + end;
			p->sum2_b += all[i].is_b ? p->rank2[i] : 0;
		}
	}
}

struct tail {
	double at_most, below;
};

static struct tail tail_without_ties(const struct rank_null *null, size_t u)
{
	return (struct tail){ null->at_most[u], u ? null->at_most[u - 1] : 0 };
}

/*
 * How many subsets of n ascending ranks have each size and sum. Row k is for subsets of k
 * ranks: row[k][e] of them have a sum of e above the smallest, for e up to last[k].
 */
struct subsets {
	size_t n, most;	/* most: the largest k */
	long *sums;	/* the smallest sum of k ranks, k = 0 .. n */
	long *last;
	double **row;
	size_t cells;	/* in all rows */
};

static void subsets_release(struct subsets *s)
{
	free(s->sums);
	free(s->last);
	free(s->row);
}
#define SUBSETS_CLEANUP __attribute__((cleanup(subsets_release)))

/* How far the sum of k of the first n ranks can lie above the smallest one. */
static long reach(const struct subsets *s, size_t n, size_t k)
{
	return s->sums[n] - s->sums[n - k] - s->sums[k];
}

static void subsets_init(struct subsets *s, const size_t *rank, size_t n, size_t most, long limit)
{
	*s = (struct subsets){ .n = n, .most = MIN(most, n) };
	s->sums = xcalloc(n + 1, sizeof(*s->sums));
	s->last = xcalloc(s->most + 1, sizeof(*s->last));
	s->row = xcalloc(s->most + 1, sizeof(*s->row));
	for (size_t i = 0; i < n; i++)
		s->sums[i + 1] = s->sums[i] + (long)rank[i];
	for (size_t k = 0; k <= s->most; k++) {
		s->last[k] = MIN(limit, reach(s, n, k));
		s->cells += (size_t)s->last[k] + 1;
	}
}

/* cells: zeros, room for all rows. */
static void subsets_count(struct subsets *s, const size_t *rank, double *cells)
{
	for (size_t k = 0; k <= s->most; k++) {
		s->row[k] = cells;
		cells += s->last[k] + 1;
	}
	s->row[0][0] = 1;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = MIN(i + 1, s->most); k-- > 0;) {
			long step = (long)(rank[i] - rank[k]);
			long end = MIN(s->last[k + 1] - step, reach(s, i, k));
			const double *from = s->row[k];
			double *to = s->row[k + 1];

			for (long e = 0; e <= end; e++)
				to[e + step] += from[e];
		}
}

static void subsets_cumulate(struct subsets *s)
{
	for (size_t k = 0; k <= s->most; k++)
		for (long e = 1; e <= s->last[k]; e++)
			s->row[k][e] += s->row[k][e - 1];
}

/* Pairs of k ranks of `low` and j of the cumulated `high` at most `room` above their smallest. */
static double count_pairs(const struct subsets *low, size_t k, const struct subsets *high, size_t j,
			  long room)
{
	double pairs = 0;

	for (long e = 0; e <= MIN(room, low->last[k]); e++)
		pairs += low->row[k][e] * high->row[j][MIN(room - e, high->last[j])];
	return pairs;
}

/*
 * The lower tail at the sum `observed` of `picks` of the n ascending ranks. A lower and an
 * upper half of the ranks are counted apart and then joined, which is half of the work of
 * counting in one go. One block holds both: new pages would cost more than the counting.
 */
static struct tail tail_of_ranks(const size_t *rank, size_t n, size_t picks, size_t observed)
{
	SUBSETS_CLEANUP struct subsets low = { 0 }, high = { 0 };
	autofree double *cells = NULL;
	double total = choose(n, picks);
	struct tail tail = { 0 };
	long limit = (long)observed;

	for (size_t i = 0; i < picks; i++)
		limit -= (long)rank[i];
	subsets_init(&low, rank, n / 2, picks, limit);
	subsets_init(&high, rank + n / 2, n - n / 2, picks, limit);
	cells = xcalloc(low.cells + high.cells, sizeof(*cells));
	subsets_count(&low, rank, cells);
	subsets_count(&high, rank + n / 2, cells + low.cells);
	subsets_cumulate(&high);
	for (size_t k = picks > high.most ? picks - high.most : 0; k <= low.most; k++) {
		long room = (long)observed - low.sums[k] - high.sums[picks - k];

		tail.at_most += count_pairs(&low, k, &high, picks - k, room) / total;
		tail.below += count_pairs(&low, k, &high, picks - k, room - 1) / total;
	}
	return tail;
}

static size_t gcd(size_t a, size_t b)
{
	while (b) {
		size_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/*
 * Midranks counted from the lowest one, or down from the highest where `mirror`, in the
 * largest unit that keeps them whole: half of the work where no midrank is a half.
 */
static struct tail tail_with_ties(const struct pooled *p, size_t picks, size_t sum2, bool mirror)
{
	autofree size_t *rank = xcalloc(p->n, sizeof(*rank));
	size_t first = p->rank2[0], last = p->rank2[p->n - 1], unit = 0;

	for (size_t i = 0; i < p->n; i++) {
		rank[i] = mirror ? last - p->rank2[p->n - 1 - i] : p->rank2[i] - first;
		unit = gcd(unit, rank[i]);
	}
	sum2 = mirror ? picks * last - sum2 : sum2 - picks * first;
	unit = MAX(unit, (size_t)1);
	for (size_t i = 0; i < p->n; i++)
		rank[i] /= unit;
	return tail_of_ranks(rank, p->n, picks, sum2 / unit);
}

/* Counts the shorter tail, whose p must be good to many digits even when it is tiny. */
static void exact_p(const struct pooled *p, const struct rank_null *null, struct rank_test *t)
{
	double pairs = (double)p->n_a * (double)p->n_b;
	bool high = t->u > pairs / 2, few_b = p->n_b <= p->n_a;
	size_t sum2_a = p->n * (p->n + 1) - p->sum2_b;
	struct tail tail;
	double other;

	if (p->ties == 0)
		tail = tail_without_ties(null, (size_t)(high ? pairs - t->u : t->u));
	else
		tail = tail_with_ties(p, few_b ? p->n_b : p->n_a, few_b ? p->sum2_b : sum2_a,
				      high == few_b);
	other = 1 - tail.below;
	t->p_less = high ? other : tail.at_most;
	t->p_greater = high ? tail.at_most : other;
}

static void normal_p(const struct pooled *p, struct rank_test *t)
{
	double n_a = (double)p->n_a, n_b = (double)p->n_b;
	double sigma = null_sigma(n_a, n_b, p->ties), away = t->u - n_a * n_b / 2;

	if (!(sigma > 0)) {
		t->p_less = t->p_greater = 1;
		return;
	}
	t->p_less = dist_normal_cdf((away + 0.5) / sigma);
	t->p_greater = dist_normal_sf((away - 0.5) / sigma);
}

static bool any_nan(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(v[i]))
			return true;
	return false;
}

struct rank_test rank_test_with(const struct rank_null *null, const double *a, const double *b)
{
	struct rank_test t = { .u = NAN, .p_less = NAN, .p_greater = NAN, .p = NAN };
	struct pooled p = { .n_a = null->n_a, .n_b = null->n_b, .n = null->n_a + null->n_b };
	autofree struct pooled_value *all = NULL;
	autofree size_t *rank2 = NULL;

	if (!p.n_a || !p.n_b || any_nan(a, p.n_a) || any_nan(b, p.n_b))
		return t;
	all = pool(a, p.n_a, b, p.n_b);
	p.rank2 = rank2 = xcalloc(p.n, sizeof(*rank2));
	pooled_rank(&p, all);
	t.u = ((double)p.sum2_b - (double)p.n_b * (double)(p.n_b + 1)) / 2;
	t.exact = null->at_most != NULL;
	if (t.exact)
		exact_p(&p, null, &t);
	else
		normal_p(&p, &t);
	t.p = fmin(1, 2 * fmin(t.p_less, t.p_greater));
	return t;
}

struct rank_test rank_test(const double *a, size_t n_a, const double *b, size_t n_b)
{
	RANK_NULL_CLEANUP struct rank_null null;

	rank_null_init(&null, n_a, n_b);
	return rank_test_with(&null, a, b);
}
