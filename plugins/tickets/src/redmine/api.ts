/** Reads issues with their journals, and the statuses, at a Redmine. */
import { header, type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'
import type { Options } from './connection.ts'

const Reference = Type.Object({ id: Type.Integer() })
const Value = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Journal = Type.Object({
  id: Type.Integer(),
  user: Type.Optional(Reference),
  created_on: Type.String(),
  details: Type.Array(
    Type.Object({ property: Type.String(), name: Type.String(), old_value: Value, new_value: Value }),
  ),
})
const Issue = Type.Object({
  id: Type.Integer(),
  status: Reference,
  created_on: Type.String(),
  /** The time at which the issue was closed last, also of one that was opened again. */
  closed_on: Value,
  journals: Type.Array(Journal),
})
const IssueAnswer = Type.Object({ issue: Issue })
const Statuses = Type.Object({
  issue_statuses: Type.Array(Type.Object({ id: Type.Integer(), is_closed: Type.Optional(Type.Boolean()) })),
})
const AccountAnswer = Type.Object({ user: Type.Object({ id: Type.Integer(), admin: Type.Optional(Type.Boolean()) }) })

export type Journal = Static<typeof Journal>
export type Issue = Static<typeof Issue>

export function openRedmine({ base_url, api_key }: Options, reads: Reads) {
  const url = base_url.replace(/\/+$/, '')
  const auth = header('X-Redmine-API-Key', api_key)
  const read = <T extends TSchema>(path: string, schema: T) => reads.json(`${url}/${path}`, { schema, auth })

  return {
    async issue(id: string): Promise<Issue> {
      return (await read(`issues/${id}.json?include=journals`, IssueAnswer)).issue
    },
    async statuses() {
      return (await read('issue_statuses.json', Statuses)).issue_statuses
    },
    /** Tells who asks. Without an account this is refused, so that it proves the key. */
    async ownAccount() {
      return (await read('users/current.json', AccountAnswer)).user
    },
  }
}
