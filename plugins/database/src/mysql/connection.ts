/** The connection of a workspace to a database of MySQL or MariaDB. */
import { defineConnectionType } from '@claimcheck/core/plugin'
import {
  addressOf,
  connectionOptions,
  credentials,
  fitsClaim,
  MAY_WRITE,
  NO_IDENTITY,
  queryBy,
  TRIAL,
  tableNamed,
} from '../connection.ts'
import { readFlavour } from './read.ts'

const HELP = `Make an account that can only read: CREATE USER claimcheck IDENTIFIED BY '...'; GRANT SELECT ON shop.orders TO claimcheck.
Connect to the server that takes the writes, by a host name: over TLS no IP address can be verified. These databases do not tell when a row was
written.`

const COPY =
  'This server is a replica, was one, or does not show that it is none: what it does not show stays unverifiable.'

export const mysqlType = defineConnectionType({
  provider: 'mysql',
  title: 'MySQL and MariaDB',
  options: connectionOptions(3306),
  credentials,
  help: HELP,
  baseUrl: addressOf,
  fits: fitsClaim,
  identified: true,
  trial: { ...TRIAL, example: 'shop.orders' },
  async probe(options, context) {
    const { query } = context
    const url = addressOf(options)
    const table = tableNamed(context.target)
    const flavour = await readFlavour(options, context)
    if (table !== undefined) await query(url, { statement: 'mysql table', identifiers: { table }, ...queryBy(options) })
    const { rows } = await query(url, { statement: `${flavour} account`, ...queryBy(options) })
    const [identity, standsAlone, mayWrite] = rows[0] ?? []
    const warnings = [
      ...(mayWrite === '1' ? [MAY_WRITE] : []),
      ...(standsAlone === '1' ? [] : [COPY]),
      ...(identity ? [] : [NO_IDENTITY]),
    ]
    const proves = table === undefined ? 'reached' : 'works'
    return { proves, scopes: [], warnings, ...(identity && { identity }) }
  },
})
