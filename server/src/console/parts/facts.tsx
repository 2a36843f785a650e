/** Lists of names and values. */
import type { JsonObject } from '@claimcheck/core'
import type { ComponentChildren } from 'preact'
import { written } from './schema-properties.ts'

/** Rows without a value are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [label: string, value: ComponentChildren])[] }) {
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

/** The members of an object of a plugin or a client. */
export function ObjectFacts({ object }: { readonly object: JsonObject }) {
  const rows = Object.entries(object).map(([name, value]) => [name, <code>{written(value)}</code>] as const)
  return rows.length > 0 ? <Facts rows={rows} /> : null
}
