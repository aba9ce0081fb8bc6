"""A plan as a notebook shows it: what to expect, the rates of other sizes, and the alternatives."""

import html as _html
import math

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 360, 150, 60, 24


def html(plan):
    """The plan as HTML, without scripts or style sheets."""
    rows = [
        ("keys", f"{plan.keys:,}"),
        ("memory", f"{plan.nbytes:,} bytes, {plan.bits_per_key:.2f} bits per key"),
        ("false positives", f"{plan.rate:.3g}"),
        ("blocks read", f"{plan.accesses_insert:.2f} per insert, {plan.accesses_miss:.2f} per miss, {plan.accesses_hit:.2f} per hit"),
        ("filter", plan.design),
    ]
    table = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{_html.escape(value)}</td></tr>" for name, value in rows)
    return f"<div><table>{table}</table>{_curve(plan)}{_details('Why this filter', plan.reasons)}{_details('Why not another', plan.alternatives())}</div>"


def _details(title, sentences):
    items = "".join(f"<li>{_html.escape(sentence)}</li>" for sentence in sentences)
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>"


def _curve(plan):
    """What other sizes would give: the rate against the bits per key, with the plan as a dot."""
    sizes = [plan.bits_per_key * factor for factor in (0.6, 0.8, 1.0, 1.25, 1.5, 2.0)]
    points = []
    for size in sizes:
        try:
            points.append((size, plan._rate_at(size)))
        except ValueError:
            pass  # too small for any filter
    if len(points) < 2:
        return ""
    low, high = sizes[0], sizes[-1]
    rates = [rate for _, rate in points] + [plan.rate]
    floor, ceiling = math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates)))

    def place(size, rate):
        x = _LEFT + (size - low) / (high - low) * (_WIDTH - _LEFT - 12)
        y = 8 + (ceiling - math.log10(rate)) / max(ceiling - floor, 1) * (_HEIGHT - _BOTTOM - 8)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(place(*point) for point in points)
    x, y = place(plan.bits_per_key, plan.rate).split(",")
    text = "font-size='11' fill='currentColor'"
    return (
        f"<svg width='{_WIDTH}' height='{_HEIGHT}' role='img' aria-label='False-positive rate against bits per key'>"
        f"<polyline points='{line}' fill='none' stroke='#1f77b4' stroke-width='2'/>"
        f"<circle cx='{x}' cy='{y}' r='4' fill='#d62728'/>"
        f"<text x='0' y='14' {text}>1e{ceiling}</text><text x='0' y='{_HEIGHT - _BOTTOM}' {text}>1e{floor}</text>"
        f"<text x='{_LEFT}' y='{_HEIGHT - 6}' {text}>{low:.0f}</text>"
        f"<text x='{_WIDTH - 110}' y='{_HEIGHT - 6}' {text}>{high:.0f} bits per key</text></svg>"
    )
