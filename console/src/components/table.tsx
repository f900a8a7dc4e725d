import type { ComponentChildren, VNode } from 'preact';
import './table.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The column is left out on a phone. */
  readonly minor?: boolean;
  readonly numeric?: boolean;
}

export interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** On a phone, show each row as a list of its columns, one below the other. */
  readonly stacks?: boolean;
}

export function Table<Row>({ caption, columns, rows, keyOf, stacks = false }: TableProps<Row>): VNode {
  const classOf = ({ minor, numeric }: Column<Row>): string =>
    `${minor === true ? 'minor ' : ''}${numeric === true ? 'numeric' : ''}`;
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class={stacks ? 'table table-stacks' : 'table'}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)} key={column.title}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td class={classOf(column)} key={column.title} data-title={column.title}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
