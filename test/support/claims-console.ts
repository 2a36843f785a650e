/** The owner of a workspace at the console, and an agent that submits claims there. */
import type { Test as TapTest } from 'tap'
import { Client } from './client.ts'
import { Installation, type InstallationOptions, sharedInstallation } from './installation.ts'
import { Visitor } from './visitor.ts'

export interface ClaimsConsole {
  readonly installation: Installation
  readonly owner: Visitor
  readonly client: Client
  readonly workspaceId: string
  /** Of the claims' table. */
  readonly path: string
}

const shared = sharedInstallation()

/** In the installation that the tests of a file share, by default one without options; with `options`, in one for this test. */
export async function claimsConsole(
  t: TapTest,
  where: InstallationOptions | (() => Promise<Installation>) = shared,
): Promise<ClaimsConsole> {
  const installation = await (typeof where === 'function' ? where() : Installation.during(t, where))
  const { host, claimcheck } = installation
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const { key } = await claimcheck.keys.create(workspaceId, 'test')
  const client = new Client(host, workspaceId, key)
  return { installation, owner, client, workspaceId, path: `/console/w/${workspaceId}/claims` }
}

/** The ids of the claims that a page lists, in its order. */
export function listed(html: string): string[] {
  return [...html.matchAll(/<tr id="(clm_[^"]+)"/g)].map(([, id]) => id!)
}

/** Exports claims as the form of the list does. */
export function exportClaims(
  owner: Visitor,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const body = new URLSearchParams({ ...(owner.csrf === undefined ? {} : { _csrf: owner.csrf }), ...fields })
  return owner.once(`${path}/export`, { method: 'POST', body, headers: { origin: owner.host.url } })
}

/** Where a link of this id leads. */
export function linkOf(html: string, id: string): string | undefined {
  const tag = new RegExp(`<a [^>]*id="${id}"[^>]*>`).exec(html)?.[0]
  return /href="([^"]*)"/.exec(tag ?? '')?.[1]?.replaceAll('&amp;', '&')
}
