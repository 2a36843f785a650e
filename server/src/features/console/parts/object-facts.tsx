/** The members of an object, with the titles of its schema. */
import type { JsonObject } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'
import type { TSchema } from 'typebox'
import { propertiesOf, written } from '../../../base/schema-properties.ts'

interface ObjectFactsProps {
  readonly object: JsonObject
  /** Has the titles of the members. Undefined where the plugin is not loaded: their names are shown. */
  readonly schema: TSchema | undefined
}

export function ObjectFacts({ object, schema }: ObjectFactsProps) {
  const titles = new Map(schema ? propertiesOf(schema).map(([name, { title }]) => [name, title]) : [])
  const entries = Object.entries(object)
  if (entries.length === 0) return null
  return (
    <dl class="facts">
      {entries.map(([name, value]) => (
        <>
          <dt title={titles.get(name) === undefined ? undefined : name}>{titles.get(name) ?? visible(name)}</dt>
          <dd>
            <code>{visible(written(value))}</code>
          </dd>
        </>
      ))}
    </dl>
  )
}
