/** Writes calls that only read: the methods of JSON-RPC and WebDAV and the GraphQL queries that the manifest declares. */
import type { DavCall, ReadCall } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import { utf8 } from '../encoding.ts'
import { davRequest } from './dav.ts'
import { BreachError } from './failures.ts'

const MAX_BODY_BYTES = 64 * 1024

export interface CallRequest {
  readonly method: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Writes the request of a declared call.
 * @param path the path that the call is sent to, with its query
 * @param basePath the path of the check's base address, with its query
 * @param handles the handles of the connection's secrets, one of which may be a last segment of the path, for the scheme `path`
 * @throws BreachError for a call that the manifest does not declare
 */
export function callRequest(
  call: ReadCall,
  methods: Manifest['methods'] = {},
  {
    path,
    basePath,
    handles,
  }: { readonly path: string; readonly basePath: string; readonly handles: readonly string[] },
): CallRequest {
  if ('dav' in call) return davRequest(call, methods.dav ?? [], { path, basePath })
  // A destination may read the path and ignore the body: what only looks like a query would create something.
  const isDeclared = (methods.paths ?? [basePath]).some((declared) => {
    const before = declared.replace(/\/$/, '')
    return path === declared || handles.some((handle) => path === `${before}/${handle}`)
  })
  if (!isDeclared) {
    throw new BreachError('the manifest declares no call at this path')
  }
  const body = JSON.stringify(declaredCall(call, methods))
  if (utf8(body).length > MAX_BODY_BYTES) throw new BreachError('a call is too large')
  return { method: 'POST', body, headers: { 'content-type': 'application/json' } }
}

function declaredCall(
  call: Exclude<ReadCall, DavCall>,
  { jsonRpc = [], graphql = [] }: NonNullable<Manifest['methods']>,
): object {
  if ('jsonRpc' in call) {
    const { jsonRpc: method, params } = call
    if (typeof method !== 'string' || !jsonRpc.includes(method)) {
      const shown = typeof method === 'string' && /^[\w.$/-]{1,100}$/.test(method) ? method : 'that was called'
      throw new BreachError(`the manifest does not declare the method ${shown}`)
    }
    return { jsonrpc: '2.0', id: 1, method, params }
  }
  const { graphql: query, variables } = call
  if (typeof query !== 'string' || !graphql.includes(query)) {
    throw new BreachError('the manifest does not declare this GraphQL query')
  }
  return { query, variables }
}
