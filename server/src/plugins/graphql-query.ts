/** Tells whether the text of a GraphQL document is one query: an operation of another kind could change something. */
import type { DocumentNode } from 'graphql'
import { parse } from 'graphql/language/parser.js'

const MAX_CHARACTERS = 32 * 1024
const MAX_TOKENS = 5000

/** Finds what is wrong with a GraphQL document; undefined for one query, with the fragments that it uses. */
export function queryProblem(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return `longer than ${MAX_CHARACTERS} characters`
  let document: DocumentNode
  try {
    document = parse(text, { noLocation: true, maxTokens: MAX_TOKENS })
  } catch (error) {
    return `no GraphQL document: ${(error as Error).message}`
  }
  const operations = document.definitions.filter(({ kind }) => kind !== 'FragmentDefinition')
  const [operation, ...others] = operations
  const isQuery = operation?.kind === 'OperationDefinition' && operation.operation === 'query' && others.length === 0
  return isQuery ? undefined : 'not one query, and fragments that it uses'
}
