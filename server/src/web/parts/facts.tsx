/** Lists: of names and values, and of sentences. */
import type { ComponentChildren } from 'preact'

export type FactRows = readonly (readonly [label: string, value: ComponentChildren])[]

/** A list of names and values, without rows that have no value. */
export function Facts({ rows }: { rows: FactRows }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  )
}

/** A list without an order; nothing if it has no items. */
export function List({ items }: { items: readonly ComponentChildren[] }) {
  return (
    items.length > 0 && (
      <ul>
        {items.map((item) => (
          <li>{item}</li>
        ))}
      </ul>
    )
  )
}
