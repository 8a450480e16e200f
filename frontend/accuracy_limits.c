#include "frontend/accuracy_limits.h"

#include <math.h>

Limits limits_asked(const Options *o)
{
	return (Limits){ option_real(o, OPT_MIN_PCC, -1), option_real(o, OPT_MAX_ERR, -1) };
}

/* What the relative error may be at most; infinite: anything. */
static double error_limit(Limits l, const Closeness *c)
{
	const double by_error = l.max_err >= 0 ? l.max_err : INFINITY;
	return c->constant && l.min_pcc >= 0 ? fmin(by_error, 1 - l.min_pcc) : by_error;
}

bool limits_hold(Limits l, const Closeness *c)
{
	return c->max_rel <= error_limit(l, c)
		&& (l.min_pcc < 0 || c->constant || c->pcc >= l.min_pcc);
}

static double noise_at(double pcc)
{
	return pcc > 0 ? 1 / (pcc * pcc) - 1 : INFINITY;
}

static double over(double is, double limit)
{
	return is > 0 ? is / limit : 0;
}

double limits_excess(Limits l, const Closeness *c, double usual)
{
	const double error = over(fmin(c->max_rel, 2 * usual), error_limit(l, c));
	double noise = error * error;
	if (l.min_pcc >= 0 && !c->constant)
		noise = fmax(noise, over(noise_at(c->pcc), noise_at(l.min_pcc)));
	return limits_hold(l, c) ? noise : fmax(noise, 1);
}
