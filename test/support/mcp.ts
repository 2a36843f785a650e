/** A client of the Model Context Protocol, as agents have one: the protocol's own SDK. */
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { Host } from './host.ts'

export const MODERN = '2026-07-28'

/** @param era `legacy`: the handshake of the revisions before */
export async function mcpClient(
  t: Test,
  host: Host,
  token: string,
  era: 'modern' | 'legacy' = 'modern',
): Promise<Client> {
  const client = newClient(era)
  const transport = new StreamableHTTPClientTransport(mcpUrl(host), { authProvider: { token: async () => token } })
  await client.connect(transport)
  t.teardown(() => client.close())
  return client
}

export function newClient(era: 'modern' | 'legacy' = 'modern'): Client {
  const mode = era === 'modern' ? { pin: MODERN } : 'legacy'
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
}

export function mcpUrl(host: Host): URL {
  return new URL('/mcp', host.url)
}

export interface ToolAnswer {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  readonly structuredContent: any
}

export async function call(client: Client, name: string, args: object = {}): Promise<ToolAnswer> {
  return (await client.callTool({ name, arguments: { ...args } })) as unknown as ToolAnswer
}

let claims = 0

/** A valid claim. @param over the fields that differ from it */
export function claimOf(over: object = {}): object {
  return {
    client_claim_id: `mcp-${++claims}`,
    agent_id: 'agent-1',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
    ...over,
  }
}

/** One request as it goes over the wire, of the revision 2026-07-28. */
export function post(
  host: Host,
  message: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { method, params } = (typeof message === 'string' ? {} : message) as {
    method?: string
    params?: { name?: string }
  }
  return fetch(mcpUrl(host), {
    method: 'POST',
    body: typeof message === 'string' ? message : JSON.stringify(message),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      ...(method ? { 'mcp-method': method } : {}),
      ...(params?.name ? { 'mcp-name': params.name } : {}),
      ...headers,
    },
  })
}

export function request(method: string, params: object = {}): object {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
}

/** Registers itself, and keeps what it is given in memory. */
export class Registering implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:9/back'
  readonly clientMetadata = {
    client_name: 'An MCP client',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  asked: URL | undefined
  // biome-ignore lint/suspicious/noExplicitAny: the forms are the SDK's.
  #kept: Record<string, any> = {}

  clientInformation = () => this.#kept.client
  saveClientInformation = (client: unknown) => {
    this.#kept.client = client
  }
  tokens = () => this.#kept.tokens
  saveTokens = (tokens: unknown) => {
    this.#kept.tokens = tokens
  }
  redirectToAuthorization = (url: URL) => {
    this.asked = url
  }
  saveCodeVerifier = (verifier: string) => {
    this.#kept.verifier = verifier
  }
  codeVerifier = () => this.#kept.verifier
}
