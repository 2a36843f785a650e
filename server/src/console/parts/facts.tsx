/** Lists of names and values. */
import type { JsonObject } from '@claimcheck/core'
import type { ComponentChildren } from 'preact'
import type { TSchema } from 'typebox'
import { propertiesOf, written } from './schema-properties.ts'

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

interface ObjectFactsProps {
  readonly object: JsonObject
  /** Has the titles of the members. Undefined where the plugin is not loaded: their names are shown. */
  readonly schema: TSchema | undefined
}

/** The members of an object of a plugin or a client. */
export function ObjectFacts({ object, schema }: ObjectFactsProps) {
  const titles = new Map(schema ? propertiesOf(schema).map(([name, { title }]) => [name, title]) : [])
  const entries = Object.entries(object)
  if (entries.length === 0) return null
  return (
    <dl class="facts">
      {entries.map(([name, value]) => (
        <>
          <dt title={titles.get(name) === undefined ? undefined : name}>{titles.get(name) ?? name}</dt>
          <dd>
            <code>{written(value)}</code>
          </dd>
        </>
      ))}
    </dl>
  )
}
