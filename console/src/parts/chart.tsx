import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** Points of a line: seconds since 1970, and values; null where nothing is known. */
export type Line = [times: number[], values: (number | null)[]];

const HEIGHT = 120;
/** Of one time alone the library draws the days around it, so nothing is drawn before there are two. */
const NOTHING: Line = [[], []];

/** Steps between the labels of the time axis; what is shown has no parts of a second. */
const WHOLE_SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 3600, 21_600, 86_400];

/** A line over time, with its last value in words for whoever cannot see it. */
export function Chart({ title, line, show }: { title: string; line: Line; show: (value: number) => string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const last = line[1].at(-1);
  const words = last === null || last === undefined ? 'not known' : show(last);

  useEffect(() => {
    const element = place.current!;
    const colour = getComputedStyle(element);
    const made = new uPlot(optionsFor(element.clientWidth, colour, show), NOTHING, element);
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    return () => {
      sized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(line[0].length < 2 ? NOTHING : line), [line]);

  return (
    <figure className="chart">
      <figcaption>
        {title} <strong>{words}</strong>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title} over the last minutes; now ${words}`} />
    </figure>
  );
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: 'h23' });
}

function optionsFor(
  width: number,
  style: CSSStyleDeclaration,
  show: (value: number) => string,
): uPlot.Options {
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--faint'), grid: { stroke: colour('--line') }, ticks: { show: false } };
  return {
    ...{ width, height: HEIGHT, legend: { show: false }, cursor: { show: false } },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, size: 26, space: 80, incrs: WHOLE_SECONDS, values: (_plot, times) => times.map(clockTime) },
      { ...axis, size: 70, values: (_plot, values) => values.map(show) },
    ],
    series: [{}, { stroke: colour('--accent'), width: 2, fill: colour('--accent-faint'), spanGaps: false }],
  };
}
