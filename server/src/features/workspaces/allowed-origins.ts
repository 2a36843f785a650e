/** The allowed origins of a workspace: scripts of these sites may submit claims with its keys. */
import { setTimeout } from 'node:timers/promises'
import { parseUrl } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { Acting } from '../../base/actor.ts'
import { createBatch } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'
import { requireWorkspace } from './workspaces.ts'

const MOST_ORIGINS = 20
const MOST_LENGTH = 300
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

// Every host runs one statement at a time for all origins that are asked about, and pauses after it.
const REMEMBERED_MS = 2000
const MOST_REMEMBERED = 10_000
const MOST_PER_STATEMENT = 500
const PAUSE_MS = 20

interface AllowedOriginsOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly now: () => Instant
}

export type AllowedOrigins = ReturnType<typeof createAllowedOrigins>

export function createAllowedOrigins({ storage, now }: AllowedOriginsOptions) {
  const remembered = new LRUCache<string, Promise<boolean>>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS })
  const lookups = createBatch<string, boolean>(
    async (origins) => {
      const listed = new Set(await storage.read.allowedOrigins.listed(origins))
      await setTimeout(PAUSE_MS)
      return origins.map((origin) => listed.has(origin))
    },
    { maxItems: MOST_PER_STATEMENT },
  )

  return {
    list: (workspaceId: string): Promise<readonly string[]> => storage.read.allowedOrigins.of(workspaceId),
    /**
     * Replaces the sites that a workspace lists.
     * @returns their origins, as browsers write them
     * @throws ServiceError `bad_request`, `not_found`
     */
    async set(workspaceId: string, sites: readonly string[], by: Acting): Promise<readonly string[]> {
      const origins = [...new Set(sites.map(readOrigin))].toSorted()
      if (origins.length > MOST_ORIGINS)
        throw new ServiceError('bad_request', `a workspace lists at most ${MOST_ORIGINS} sites`)
      await storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const before = await tx.allowedOrigins.of(workspaceId)
        const at = now()
        await tx.allowedOrigins.set(workspaceId, origins, at)
        const details = { sites: origins.join(' '), before: before.join(' ') }
        tx.audit.record({ event: 'workspace.sites_changed', at, by, workspaceId, details })
      })
      return origins
    },
    /** Tells whether any workspace lists the origin, or did seconds ago. Anyone may ask, and no key is known, so the number of queries is bounded. */
    async isListed(origin: string): Promise<boolean> {
      if (!isOrigin(origin)) return false
      const known = remembered.get(origin)
      if (known) return known
      const asked = lookups.add(origin)
      remembered.set(origin, asked)
      asked.catch(() => remembered.delete(origin))
      return asked
    },
    /** Tells whether this workspace lists the origin now. */
    isListedBy: async (workspaceId: string, origin: string): Promise<boolean> =>
      isOrigin(origin) && storage.read.allowedOrigins.has(workspaceId, origin),
  }
}

/** Tells whether a browser could have written the text as an origin: other texts cannot be listed, and are not looked up. */
function isOrigin(text: string): boolean {
  return text.length <= MOST_LENGTH && parseUrl(text)?.origin === text
}

/**
 * Reads the origin of a site.
 * @throws ServiceError `bad_request`
 */
function readOrigin(text: string): string {
  const url = text.length <= MOST_LENGTH ? parseUrl(text.trim()) : undefined
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  const isBare = url && url.username + url.password + url.search + url.hash === '' && url.pathname === '/'
  // Browsers name one host: a pattern would be listed, and never fit.
  if (isSecure && isBare && isOrigin(url.origin) && !url.hostname.includes('*')) return url.origin
  throw new ServiceError(
    'bad_request',
    'a site is the beginning of an address, without a path or a *: https://app.example.com. With http:// it can only be one of this machine, such as http://localhost:3000',
  )
}
