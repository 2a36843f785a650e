/** The connection of a workspace to a database of PostgreSQL. */
import { defineConnectionType, isDestinationError, type ProbeContext } from '@claimcheck/core/plugin'
import {
  addressOf,
  connectionOptions,
  credentials,
  fitsClaim,
  MAY_WRITE,
  NO_IDENTITY,
  type Options,
  queryBy,
  TRIAL,
  tableNamed,
} from '../connection.ts'

const HELP = `Make a role that can only read: CREATE ROLE claimcheck LOGIN PASSWORD '...'; GRANT USAGE ON SCHEMA public TO claimcheck;
GRANT SELECT ON public.orders TO claimcheck. Connect to the primary server, not to a replica. With track_commit_timestamp = on, receipts tell
when a row was written last.`

const HIDES = 'Policies hide rows of this table from the account: what it does not show stays unverifiable.'
const RECOVERS = 'This is a replica: what it does not show counts only where its lag is known and small.'

export const postgresType = defineConnectionType({
  provider: 'postgres',
  title: 'PostgreSQL',
  options: connectionOptions(5432),
  credentials,
  help: HELP,
  baseUrl: addressOf,
  fits: fitsClaim,
  identified: true,
  trial: { ...TRIAL, example: 'public.orders' },
  async probe(options, context) {
    const table = tableNamed(context.target)
    const ask = asker(options, context)
    const [[mayWrite, recovers] = []] = (await ask('account')).rows
    const [[hides] = []] = table === undefined ? [] : (await ask('table', table)).rows
    const identity = await readIdentity(ask)
    const warnings = [
      ...(mayWrite === 't' ? [MAY_WRITE] : []),
      ...(recovers === 't' ? [RECOVERS] : []),
      ...(hides === 't' ? [HIDES] : []),
      ...(identity === undefined ? [NO_IDENTITY] : []),
    ]
    const proves = table === undefined ? 'reached' : 'works'
    return { proves, scopes: [], warnings, ...(identity !== undefined && { identity }) }
  },
})

function asker(options: Options, { query }: ProbeContext) {
  const url = addressOf(options)
  return (statement: string, table?: string) => {
    const [schema = '', name = ''] = table?.split('.') ?? []
    const named = table === undefined ? {} : { parameters: { schema, name }, identifiers: { table } }
    return query(url, { statement: `postgres ${statement}`, ...named, ...queryBy(options) })
  }
}

/** Reads which database answers; undefined where the account may not. */
async function readIdentity(ask: ReturnType<typeof asker>): Promise<string | undefined> {
  try {
    return (await ask('identity')).rows[0]?.[0] ?? undefined
  } catch (error) {
    if (isDestinationError(error) && error.code === 'forbidden') return undefined
    throw error
  }
}
