/** What is wrong with an input of a trial. No value is repeated, because it may be a credential. */
import { type TSchema, Value } from '../typebox.ts'

interface Issue {
  readonly loc: readonly string[]
  readonly msg: string
}

export function issuesOf(schema: TSchema, value: unknown, name: string): Issue[] {
  if (Value.Check(schema, value)) return []
  const known = Object.keys((schema as { readonly properties?: object }).properties ?? {})
  return [...Value.Errors(schema, value)]
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .map(({ keyword, instancePath, message }) => {
      const path = instancePath.split('/').filter(Boolean)
      const others = path.length === 1 ? `; there are: ${known.join(', ') || 'none'}` : ''
      const msg = keyword === 'boolean' ? `there is none of that name${others}` : message
      return { loc: [name, ...path], msg }
    })
}
