/** The route /mcp: decides who may call it, from where, and for how long. The SDK and the tools make the answers. */

import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { parseUrl } from '@claimcheck/core/plugin'
import { JsonError, parseStrictJson } from '@claimcheck/core/receipts'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { bearerIn, requireCredential } from '../../http/auth.ts'
import { BODY_LIMIT_BYTES } from '../../http/body.ts'
import { COSTS, type CostClass } from '../../http/costs.ts'
import { type Credential, credentialOf, payersOf, spenderOf } from '../../http/credential.ts'
import { HttpError, prepareRefusal } from '../../http/errors.ts'
import type { Gate } from '../../http/gate.ts'
import type { App } from '../../http/instance.ts'
import { MAX_NESTING, MAX_VALUES } from '../../http/text.ts'
import type { TreeHeads } from '../../http/tree-heads.ts'
import type { OAuth } from '../oauth/oauth.ts'
import { TOOL_SCOPES } from '../oauth/scopes.ts'
import type { TokenService } from '../oauth/tokens.ts'
import type { KeyService } from '../workspaces/keys.ts'
import { chunksUntil, createExchanges, REFUSED } from './exchanges.ts'
import type { Session } from './handler.ts'
import { type BackendParts, serviceBackends } from './service-backend.ts'

export interface McpParts extends BackendParts {
  readonly keys: Pick<KeyService, 'authenticate'>
  readonly tokens: TokenService
  readonly oauth: Pick<OAuth, 'audiences' | 'mcpMetadataUrl'>
  readonly publicUrl: string | undefined
}

/** The paths of the route: people give clients the address with a slash at its end, too. */
const PATHS = ['/mcp', '/mcp/'] as const
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export async function mcpRoutes(app: App, parts: McpParts, gate: Gate, treeHeads?: TreeHeads): Promise<void> {
  const { keys, tokens, oauth, publicUrl, logger } = parts
  const exchanges = createExchanges()
  const backendOf = serviceBackends(parts)
  const importHandler = async () => {
    const sdk = await import('./handler.ts')
    return { ...sdk, handler: sdk.createHandler((error) => logger.error({ err: error }, 'an MCP request failed')) }
  }
  let loading: ReturnType<typeof importHandler> | undefined
  const load = () => {
    loading ??= importHandler()
    return loading
  }

  async function authenticate(text: string, address: string) {
    const key = await keys.authenticate(text, address)
    if (key) return key
    const token = await tokens.authenticate(text)
    // A token for another audience is refused here, and ours are for no other audience (RFC 8707).
    return token?.audience === oauth.audiences().mcp ? token : undefined
  }

  const metadataUrl = ({ host, routeOptions }: FastifyRequest) =>
    oauth.mcpMetadataUrl(host, routeOptions.url ?? PATHS[0])

  function challenge(isRefused: boolean, request: FastifyRequest): string {
    const error = isRefused ? 'error="invalid_token", ' : ''
    return `Bearer ${error}resource_metadata="${metadataUrl(request)}", scope="${TOOL_SCOPES.join(' ')}"`
  }

  /**
   * Refuses requests under other names, against DNS rebinding: a page that resolves its own name to this machine sends that name as Host and as
   * Origin.
   */
  async function refuseOtherNames(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { hostHeaderValidation, originValidation } = await load()
    const own = new URL(oauth.audiences().own).hostname
    await hostHeaderValidation([own, ...LOOPBACK, ...addressIn(request.headers.host)])(request, reply)
    if (!reply.sent) await originValidation([own, ...LOOPBACK])(request, reply)
  }

  /**
   * Returns the host in a list if it is an IP address. For a server without a public name that is as good as any: no other site leads to it by one.
   */
  function addressIn(host: string | undefined): string[] {
    const { hostname = '' } = publicUrl === undefined && host ? (parseUrl(`http://${host}`) ?? {}) : {}
    return isIP(hostname.replace(/^\[|\]$/g, '')) ? [hostname] : []
  }

  requireCredential(app, { authenticate, challenge, gate, treeHeads })
  // Names are checked after the credential: what is refused before it would be neither paid for nor counted.
  app.addHook('onRequest', refuseOtherNames)
  app.addHook('preClose', async () => exchanges.endAll())
  readMessages(app)

  for (const path of PATHS) app.post(path, { schema: { hide: true } }, answer)

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const credential = credentialOf(request)
    const more = tokensOf(request.body) - COSTS.mcp.tokens
    if (more > 0) await gate.takeMore(request, reply, payersOf(credential), more)
    const { handler } = await load()
    const secret = bearerIn(request)
    // A client that went while its messages were counted tells that once: an exchange that is opened for it would never end.
    if (reply.raw.destroyed) return reply.hijack()
    const { workspaceId, payer } = credential
    const exchange = exchanges.open({ spender: spenderOf(credential), workspaceId, payer }, async () => {
      const found = await authenticate(secret, request.ip)
      return found !== undefined && (found.kind === 'key' || found.kind === 'oauth')
    })
    reply.raw.on('close', exchange.end)
    const { signal } = exchange
    const session: Session = { backend: backendOf(credential), signal }
    const response = await handler.fetch(toRequest(request, oauth.audiences().mcp, signal), {
      parsedBody: request.body,
      authInfo: { ...authInfoOf(credential), resourceMetadataUrl: metadataUrl(request), extra: { session } },
    })
    if (signal.reason === REFUSED) {
      reply.header('www-authenticate', challenge(true, request))
      throw new HttpError(401, 'invalid or missing API key')
    }
    reply.code(response.status)
    for (const [name, value] of response.headers) reply.header(name, value)
    return reply.send(response.body ? Readable.from(chunksUntil(response.body, signal)) : undefined)
  }
}

/** The tools that cost more than their message, with the class of their cost. */
const COST_OF_TOOL: ReadonlyMap<unknown, CostClass> = new Map([
  ['submit_claim', 'claim'],
  ['list_claims', 'claim_list'],
  ['verify_receipt', 'verification'],
])

/** Counts the tokens of a body's messages: the revision 2025-03-26 sends several at once. */
function tokensOf(body: unknown): number {
  const messages = Array.isArray(body) ? body : [body]
  return messages.reduce<number>((sum, message) => {
    const tool = COST_OF_TOOL.get(message?.method === 'tools/call' ? message.params?.name : undefined)
    return sum + COSTS.mcp.tokens + (tool === undefined ? 0 : COSTS[tool].tokens)
  }, 0)
}

/** Makes the information that the SDK gets, without the key or token. A key has every scope. */
function authInfoOf(credential: Credential) {
  const scopes = credential.kind === 'key' ? [...TOOL_SCOPES] : [...credential.scopes]
  return { token: '', clientId: spenderOf(credential), scopes }
}

function toRequest({ headers }: FastifyRequest, url: string, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    name === 'authorization' || value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new Request(url, { method: 'POST', headers: given, signal })
}

/** The error of a body that is no JSON, which is answered as JSON-RPC 2.0 5.1 says. */
class UnreadableMessage extends HttpError {}

function readMessages(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    async (_request: FastifyRequest, body: Buffer) => {
      try {
        return parseStrictJson(UTF_8.decode(body), { maxDepth: MAX_NESTING, maxValues: MAX_VALUES }).value
      } catch (error) {
        if (!(error instanceof JsonError || error instanceof TypeError)) throw error
        throw new UnreadableMessage(400, 'Parse error: the body is not JSON that every parser reads in the same way')
      }
    },
  )
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { detail } = prepareRefusal(error, request, reply)
    if (!(error instanceof UnreadableMessage)) return reply.send({ detail })
    return reply.send({ jsonrpc: '2.0', error: { code: -32700, message: detail }, id: null })
  })
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
