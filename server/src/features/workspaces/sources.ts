/** Where a claim is read, as its receipt says it: by the host's own account, and not by the plugin's. */
import { createHmac } from 'node:crypto'
import { normalAddress } from '@claimcheck/core/hosting'
import type { Source } from '@claimcheck/core/rules'
import type { HostedConnectionType, PluginIdentity } from '../../plugins/hosted.ts'
import { isNamedBy } from '../../plugins/identity.ts'
import type { AddressVisibility, ConnectionRow } from '../../storage/workspaces.ts'
import type { WorkspacesConfig } from './config.ts'

export interface Sources {
  /** Whether the operator lists it as the public destination of that provider. */
  isListed(provider: string, baseUrl: string): boolean
  /**
   * Whether it is listed, and this plugin comes with the server or is named for it. Another one can read there as well, and say what it
   * likes of it: its reads are of an unlisted source.
   */
  isListedFor(by: PluginIdentity, provider: string, baseUrl: string): boolean
  /** The addresses that are listed for this provider and this plugin. */
  listed(provider: string, by: PluginIdentity): readonly string[]
  /** @param connection null: the claim is read without one, at a destination that the operator configured */
  sourceOf(provider: string, baseUrl: string, connection: PublishedConnection | null, by: PluginIdentity): Source
  /** Whether a read there is of this source, also when the operator lists its address, or no longer does. */
  isOf(source: Source, provider: string, baseUrl: string, connection: PublishedConnection | null): boolean
}

export interface PublishedConnection {
  readonly publishesAddress: boolean
  /** 32 bytes: its own, and never another's. */
  readonly sourceKey: Uint8Array
}

interface SourcesOptions {
  readonly config: Pick<WorkspacesConfig, 'sources' | 'sourceReaders'>
}

export function createSources({ config }: SourcesOptions): Sources {
  const listed = new Map(
    Object.entries(config.sources).map(([provider, urls]) => [provider, new Set(urls.map(normalAddress))]),
  )
  const readers = (config.sourceReaders ?? []).map((one) => ({ ...one, url: normalAddress(one.url) }))

  function mayRead(provider: string, url: string, by: PluginIdentity): boolean {
    if (by.isShipped) return true
    return readers.some((one) => one.provider === provider && one.url === url && isNamedBy(one, by))
  }

  const isListed = (provider: string, baseUrl: string) => listed.get(provider)?.has(normalAddress(baseUrl)) ?? false
  const isListedFor = (by: PluginIdentity, provider: string, baseUrl: string) =>
    isListed(provider, baseUrl) && mayRead(provider, normalAddress(baseUrl), by)

  return {
    isListed,
    isListedFor,
    listed: (provider, by) => [...(listed.get(provider) ?? [])].filter((url) => mayRead(provider, url, by)),
    sourceOf(provider, url, connection, by) {
      const baseUrl = normalAddress(url)
      if (isListedFor(by, provider, baseUrl)) return { provider, listed: true, baseUrl }
      if (!connection || connection.publishesAddress) return { provider, listed: false, baseUrl }
      return { provider, listed: false, sourceId: sourceIdOf(baseUrl, connection) }
    },
    isOf(source, provider, url, connection) {
      const baseUrl = normalAddress(url)
      if (source.provider !== provider) return false
      if ('baseUrl' in source) return source.baseUrl === baseUrl
      return connection !== null && source.sourceId === sourceIdOf(baseUrl, connection)
    },
  }
}

/** Keyed: addresses can be guessed, and a plain hash would confirm a guess. */
function sourceIdOf(baseUrl: string, { sourceKey }: PublishedConnection): string {
  return createHmac('sha256', sourceKey).update(baseUrl).digest('base64url')
}

/** How the receipts of claims that are read through a connection name its address. */
export type AddressInReceipts = 'listed' | AddressVisibility

/**
 * Where the plugin that offers the connection reads through it: another one, which the operator does not name, reads at an unlisted address.
 * @param type undefined where its plugin is not loaded
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
    // The plugin may have become stricter than it was when this was connected.
    return address
  }
}
