/** Says where a claim is read, for its receipt: by the host's own account, and not by the plugin's. */
import { createHmac } from 'node:crypto'
import { normalAddress } from '@claimcheck/core/hosting'
import type { Source } from '@claimcheck/core/rules'
import type { HostedConnectionType, PluginIdentity } from '../../plugins/hosted.ts'
import { isNamedBy } from '../../plugins/identity.ts'
import type { AddressVisibility, ConnectionRow } from '../../storage/workspaces.ts'
import type { WorkspacesConfig } from './config.ts'

export interface PublishedConnection {
  readonly publishesAddress: boolean
  /** A key of 32 bytes that only this connection ever has. */
  readonly sourceKey: Uint8Array
}

interface SourcesOptions {
  readonly config: Pick<WorkspacesConfig, 'sources'> & Partial<Pick<WorkspacesConfig, 'sourceReaders'>>
}

export type Sources = ReturnType<typeof createSources>

export function createSources({ config }: SourcesOptions) {
  const listed = new Map(
    Object.entries(config.sources).map(([provider, urls]) => [provider, new Set(urls.map(normalAddress))]),
  )
  const readers = (config.sourceReaders ?? []).map((one) => ({ ...one, url: normalAddress(one.url) }))

  function mayRead(provider: string, url: string, by: PluginIdentity): boolean {
    if (by.isShipped) return true
    return readers.some((one) => one.provider === provider && one.url === url && isNamedBy(one, by))
  }

  /** Tells whether the operator lists the address as the public destination of that provider. */
  function isListed(provider: string, baseUrl: string): boolean {
    return listed.get(provider)?.has(normalAddress(baseUrl)) ?? false
  }

  /**
   * Tells whether the address is listed, and this plugin comes with the server or is named for it. Another plugin can read there as well, and say
   * what it likes of it: its reads are of an unlisted source.
   */
  function isListedFor(by: PluginIdentity, provider: string, baseUrl: string): boolean {
    return isListed(provider, baseUrl) && mayRead(provider, normalAddress(baseUrl), by)
  }

  return {
    isListed,
    isListedFor,
    /** Lists the addresses that are listed for this provider and this plugin. */
    listed: (provider: string, by: PluginIdentity): readonly string[] =>
      [...(listed.get(provider) ?? [])].filter((url) => mayRead(provider, url, by)),
    /**
     * Makes the source of a read for its receipt.
     * @param connection null if the claim is read without one, at a destination that the operator configured
     */
    sourceOf(provider: string, url: string, connection: PublishedConnection | null, by: PluginIdentity): Source {
      const baseUrl = normalAddress(url)
      if (isListedFor(by, provider, baseUrl)) return { provider, listed: true, baseUrl }
      if (!connection || connection.publishesAddress) return { provider, listed: false, baseUrl }
      return { provider, listed: false, sourceId: sourceIdOf(baseUrl, connection) }
    },
    /** Tells whether a read at an address is of this source, also when the operator lists the address, or no longer does. */
    isOf(source: Source, provider: string, url: string, connection: PublishedConnection | null): boolean {
      const baseUrl = normalAddress(url)
      if (source.provider !== provider) return false
      if ('baseUrl' in source) return source.baseUrl === baseUrl
      return connection !== null && source.sourceId === sourceIdOf(baseUrl, connection)
    },
  }
}

/** Makes the id that replaces a withheld address. It is keyed: addresses can be guessed, and a plain hash would confirm a guess. */
function sourceIdOf(baseUrl: string, { sourceKey }: PublishedConnection): string {
  return createHmac('sha256', sourceKey).update(baseUrl).digest('base64url')
}

/** The way in which receipts name the address of a connection. */
export type AddressInReceipts = 'listed' | AddressVisibility

/**
 * Says how receipts name the address of a connection. A plugin that the operator does not name reads at an unlisted address.
 * @param type the connection's type; undefined where its plugin is not loaded
 */
export async function addressInReceipts(
  { provider, options, address, workspaceId }: Pick<ConnectionRow, 'provider' | 'options' | 'address' | 'workspaceId'>,
  type: HostedConnectionType | undefined,
  by: PluginIdentity | undefined,
  sources: Pick<Sources, 'isListedFor'>,
): Promise<AddressInReceipts> {
  try {
    if (!type || !by) return address
    const baseUrl = await type.baseUrl(options, { workspaceId, payer: workspaceId })
    return sources.isListedFor(by, provider, baseUrl) ? 'listed' : address
  } catch {
    // Plugins may have become stricter since the connection was made.
    return address
  }
}
