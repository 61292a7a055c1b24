import type { ReactNode } from 'react';

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  isNumber?: boolean;
}

/** Rows of things; on a phone each row becomes a card whose lines name their columns. */
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
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
