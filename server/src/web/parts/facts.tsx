/** Lists of names and values. */
import type { ComponentChildren } from 'preact'

export type FactRows = readonly (readonly [label: string, value: ComponentChildren])[]

/** A list of names and values, without rows that have no value. */
export function Facts({ rows }: { readonly rows: FactRows }) {
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
