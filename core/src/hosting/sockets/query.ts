/** Reads what a check asks of a database: a declared statement, with its parameters bound. */
import type { Query, QueryAnswer, SocketGrant, Statement, StatementGrant } from '../../contract/socket.ts'
import type { Instant } from '../../evidence.ts'
import { BreachError } from '../failures.ts'
import type { ToldTime } from '../readings.ts'
import { type NamedTable, nameIdentifiers } from './identifiers.ts'
import { CONTROL, fillSecrets, type LoginValues } from './open.ts'
import { statementProblem } from './statements.ts'
import type { Pace } from './streams.ts'

/** A declared statement, with the values that the check gives for it. */
interface QueryRequest {
  readonly protocol: StatementGrant['protocol']
  readonly database: string
  readonly user: string
  readonly secret: string
  readonly text: string
  /** The table that the catalogue has to show before the statement is run, if a check named it. */
  readonly named: NamedTable | undefined
  readonly values: readonly (string | number | boolean | null)[]
}

export interface SecretQuery extends QueryRequest {
  /** Ends the connection to the database when it is aborted. */
  readonly signal: AbortSignal
  /** Limit of the bytes that are read from the database. */
  readonly maxBytes: number
  /** Counts bytes that were read. @throws DestinationError where a check may read no more */
  readonly received: Pace
  readonly now: () => Instant
}

export interface QueryResult extends QueryAnswer {
  readonly clock: ToldTime & { readonly askedAt: Instant; readonly answeredAt: Instant }
}

const MOST_TEXT = 8 * 1024
/** Size limit of a database's answer. */
export const MOST_QUERY_BYTES = 1024 * 1024

/**
 * Reads what a check asks of a database.
 * @throws BreachError for a query that the manifest does not declare
 * @throws DestinationError as `fillSecrets` and `nameIdentifiers`
 */
export function queryRequest(grant: SocketGrant, query: Query, login: LoginValues): QueryRequest {
  if (!('statements' in grant)) throw new BreachError('the manifest declares no statements for this port')
  const { statement: name, parameters = {}, identifiers = {}, database } = query
  const statement = grant.statements.find((one) => one.name === name)
  if (!statement) throw new BreachError('the manifest does not declare this statement')
  const problem = statementProblem(statement, grant.protocol)
  if (problem !== undefined) throw new BreachError(`the statement ${statement.name} ${problem}`)
  // A name that ends early would be followed by parameters of the session, such as another role.
  if (typeof database !== 'string' || database === '' || CONTROL.test(database) || login.secrets.has(database))
    throw new BreachError('query names no database')
  return {
    protocol: grant.protocol,
    database,
    ...nameIdentifiers(statement, identifiers, grant.protocol),
    values: valuesOf(statement, parameters),
    ...fillSecrets(query.login ?? {}, login),
  }
}

function valuesOf(
  { parameters: names = [] }: Statement,
  given: NonNullable<Query['parameters']>,
): QueryRequest['values'] {
  if (Object.keys(given).length !== names.length || !names.every((name) => Object.hasOwn(given, name)))
    throw new BreachError('query gives other parameters than the statement declares')
  return names.map((name) => {
    const value = given[name]!
    const isRight =
      value === null ||
      typeof value === 'boolean' ||
      (typeof value === 'string' && value.length <= MOST_TEXT && !value.includes('\0')) ||
      (typeof value === 'number' && Number.isFinite(value))
    if (!isRight) throw new BreachError(`query gives a value that is none as ${name}`)
    return value
  })
}
