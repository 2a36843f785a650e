/** Reads issues, their histories and the statuses at Jira, in the Cloud (version 3 of its API) and in a data center (version 2). */
import { basic, bearer, DestinationError, type Static, type TSchema, Type } from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'
import type { Options } from './connection.ts'

const OrNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const Status = Type.Object({ id: Type.String(), statusCategory: Type.Object({ key: Type.String() }) })
const Entry = Type.Object({
  id: Type.String(),
  created: Type.String(),
  /** The account that made the change, by `accountId` in the Cloud, and by `key` in a data center. */
  author: OrNull(Type.Object({ accountId: OrNull(Type.String()), key: OrNull(Type.String()) })),
  items: Type.Array(
    Type.Object({
      field: Type.String(),
      fieldtype: Type.Optional(Type.String()),
      from: OrNull(Type.String()),
      fromString: OrNull(Type.String()),
      to: OrNull(Type.String()),
    }),
  ),
})
const Page = { startAt: Type.Integer(), total: Type.Integer() }
const Histories = Type.Object({ ...Page, histories: Type.Array(Entry) })
const Values = Type.Object({ ...Page, values: Type.Array(Entry) })
const Issue = Type.Object({
  id: Type.String(),
  key: Type.String(),
  fields: Type.Object({ status: Status, created: Type.String() }),
  changelog: Type.Optional(Histories),
})
const Account = Type.Object({ accountId: OrNull(Type.String()), key: OrNull(Type.String()) })

export type Entry = Static<typeof Entry>
export type Issue = Static<typeof Issue>

/** Entries of a history that comes with its issue, from which on the Cloud may have left out older ones. */
const MOST_EXPANDED = 100
const PAGE = 100
/** Limit of the pages of one history. */
const MOST_PAGES = 20

/** @throws DestinationError `misconfigured` for options that name neither an account with its API token nor an access token */
export function openJira({ base_url, email, api_token, token }: Options, reads: Reads) {
  const isCloud = email !== undefined && api_token !== undefined
  if (isCloud === (token !== undefined)) throw new DestinationError('misconfigured')
  const auth = isCloud ? basic(email, api_token) : bearer(token!)
  const url = `${base_url.replace(/\/+$/, '')}/rest/api/${isCloud ? 3 : 2}`
  const read = <T extends TSchema>(path: string, schema: T) => reads.json(`${url}/${path}`, { schema, auth })

  async function pagesOf(id: string): Promise<readonly Entry[]> {
    const entries: Entry[] = []
    for (let page = 0; page < MOST_PAGES; page++) {
      const path = `issue/${id}/changelog?startAt=${entries.length}&maxResults=${PAGE}`
      const { startAt, total, values } = await read(path, Values)
      if (startAt !== entries.length) throw new DestinationError('unexpected_response')
      entries.push(...values)
      if (entries.length >= total) return entries
      if (values.length === 0) throw new DestinationError('unexpected_response')
    }
    throw new DestinationError('too_large')
  }

  return {
    issue: (key: string): Promise<Issue> => read(`issue/${key}?fields=status,created&expand=changelog`, Issue),
    /** Reads the whole history of an issue. @returns its entries, and whether they came in the answer that has the issue */
    async history({
      id,
      changelog,
    }: Issue): Promise<{ readonly entries: readonly Entry[]; readonly isOfIssue: boolean }> {
      const { startAt, total, histories = [] } = changelog ?? {}
      const isWhole = startAt === 0 && total === histories.length && !(isCloud && total >= MOST_EXPANDED)
      if (isWhole) return { entries: histories, isOfIssue: true }
      const entries = await pagesOf(id)
      // Pages that have less than the issue tells of are of a copy that lags.
      if (entries.length < (total ?? 0)) throw new DestinationError('unexpected_response')
      return { entries, isOfIssue: false }
    },
    /** Reads a project by its key, or by one that it had before. */
    project: (key: string) => read(`project/${key}`, Type.Object({ key: Type.String() })),
    statuses: () => read('status', Type.Array(Status)),
    /** Tells who asks. Without an account this is refused, so that it proves the credentials. */
    ownAccount: () => read('myself', Account),
  }
}
