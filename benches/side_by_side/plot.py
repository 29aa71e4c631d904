"""Lines over a logarithmic axis, as SVG."""

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 760, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 250, 40, 44
_COLOURS = ("#1b6ca8", "#c8553d", "#4a8f3c", "#7d5ba6", "#b8860b", "#555555")


def svg(title: str, xs: Sequence[int], lines: Mapping[str, Sequence[float | None]]) -> str:
    """One line per name over `xs`, which are at least 1; from 0 up to a round figure above the largest value."""
    top = _round_up(max(value for values in lines.values() for value in values if value is not None))
    decades = math.log10(xs[-1] / xs[0])

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log10(value / xs[0]) / decades

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for step in range(5):
        value = top * step / 4
        parts.append(f'<path d="M{_LEFT} {y(value):.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in xs:
        parts.append(f'<text x="{x(value):.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle">{value:,}</text>')
    for number, (name, values) in enumerate(lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [(x(at), y(value)) for at, value in zip(xs, values) if value is not None]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
        at = _TOP + 18 * number
        parts.append(f'<rect x="{_WIDTH - _RIGHT + 14}" y="{at}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_WIDTH - _RIGHT + 30}" y="{at + 9}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _round_up(value: float) -> float:
    unit = 10 ** math.floor(math.log10(value))
    return next(step * unit for step in (1, 2, 4, 5, 8, 10) if step * unit >= value)
