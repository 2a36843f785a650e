/** The audiences that tokens may have (RFC 8707): this service, its MCP server, and the resources in the configuration. */
import { parseUrl } from '@claimcheck/core/plugin'

export type Audiences = ReturnType<typeof createAudiences>

export function createAudiences(own: string, others: readonly string[], { hasMcp }: { readonly hasMcp: boolean }) {
  // Clients may write the same URL with or without the slash after the host, and people the MCP server's with one at its end.
  const mcp = `${own}/mcp`
  const known = new Map([...others, own, mcp].map((name) => [normalize(name), name]))
  known.set(`${normalize(mcp)}/`, mcp)
  return {
    /** The audience of the REST API. */
    own,
    /** The audience of the server of the Model Context Protocol: its tokens open nothing else but whoami. */
    mcp,
    /** The audience of tokens that were asked for without a resource: clients of MCP leave it out, and no other token opens that server. */
    unnamed: hasMcp ? mcp : own,
    /** Finds the name of an audience in tokens; undefined for an unknown audience. */
    find: (resource: string) => known.get(normalize(resource)),
  }
}

function normalize(resource: string): string {
  return parseUrl(resource)?.href ?? resource
}
