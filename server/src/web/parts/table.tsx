/** Tables, which scroll when they are too wide, and notes where a list is empty. */
import type { ComponentChildren } from 'preact'

/** The head of a column, the content of its cells, and their markup. */
export type Column<R> = readonly [head: string, cell: (row: R) => ComponentChildren, markup?: Markup<R>]

interface Markup<R> {
  /** True for the cell that names its row. */
  readonly isRowHead?: boolean
  readonly class?: string
  readonly titleOf?: (row: R) => string
  /** Tells whether a cell shows its head where the head of the table is hidden. */
  readonly isLabelled?: (row: R) => boolean
}

export const ROW_HEAD = { isRowHead: true, class: 'wide' } as const
export const WIDE = { class: 'wide' } as const
export const WHEN = { class: 'when' } as const

interface TableProps<R> {
  /** The name of the table for screen readers. */
  readonly label: string
  readonly columns: readonly Column<R>[]
  readonly rows: readonly R[]
  readonly idOf?: (row: R) => string
  /** Makes each row a block on a narrow screen, so that its buttons are on the screen, and each of its cells shows its head. */
  readonly stacks?: boolean
}

export function Table<R>({ label, columns, rows, idOf, stacks = false }: TableProps<R>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must scroll by keyboard too
    <section class={stacks ? 'table stacks' : 'table'} aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([head]) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr id={idOf?.(row)}>{columns.map((column) => cellOf(column, row, stacks))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function cellOf<R>([head, cell, markup = {}]: Column<R>, row: R, stacks: boolean) {
  const { isRowHead = false, class: className, titleOf, isLabelled } = markup
  const label = stacks || isLabelled?.(row) ? head : undefined
  const Cell = isRowHead ? 'th' : 'td'
  return (
    <Cell scope={isRowHead ? 'row' : undefined} class={className} title={titleOf?.(row)} data-label={label}>
      {cell(row)}
    </Cell>
  )
}

export function Empty({ heading, children }: { heading: string; children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{heading}</h2>
      {children}
    </section>
  )
}
