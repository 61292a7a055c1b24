import { isValidElement, type ReactNode } from 'react';
import { Boundary } from './boundary.js';

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  isNumber?: boolean;
}

/** Longer words may be broken, such as the names of consumers. */
const LONGEST_WORD = 12;

/** A value of another type than text or a number, as another program may have stored it, is shown as JSON. */
function Cell<T>({ of, as }: { of: T; as: Column<T>['cell'] }) {
  const shown = as(of);
  if (typeof shown === 'string' && shown.split(' ').every((word) => word.length <= LONGEST_WORD))
    return <span className="short">{shown}</span>;
  const isValue = typeof shown === 'object' && !isValidElement(shown) && !Array.isArray(shown);
  return isValue && shown !== null ? <code>{JSON.stringify(shown)}</code> : shown;
}

/**
 * Rows of things; on a phone each row becomes a card whose lines name their columns. A cell that cannot be shown costs only
 * itself.
 */
export function Table<T>({
  caption,
  columns,
  rows,
  nameOf,
  empty,
}: {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  nameOf: (row: T) => string;
  empty: ReactNode;
}) {
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  return (
    <table>
      <caption className="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, isNumber }) => (
            <th key={title} scope="col" className={isNumber ? 'number' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={nameOf(row)}>
            {columns.map(({ title, cell, isNumber }) => (
              <td key={title} data-title={title} className={isNumber ? 'number' : undefined}>
                <Boundary instead={<span className="faint">not readable</span>}>
                  <Cell of={row} as={cell} />
                </Boundary>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
