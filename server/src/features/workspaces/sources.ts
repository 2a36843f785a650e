/** Where a claim is read, as its receipt says it: by the host's own account, and not by the plugin's. */
import { createHmac } from 'node:crypto'
import { normalAddress } from '@claimcheck/core/hosting'
import type { Source } from '@claimcheck/core/rules'
import type { HostedConnectionType } from '../../plugins/hosted.ts'
import type { AddressVisibility, ConnectionRow } from '../../storage/workspaces.ts'
import type { WorkspacesConfig } from './config.ts'

export interface Sources {
  /** Whether the operator lists it as the public destination of that provider. */
  isListed(provider: string, baseUrl: string): boolean
  /** The addresses that the operator lists for this provider. */
  listed(provider: string): readonly string[]
  /** @param connection null: the claim is read without one, at a destination that the operator configured */
  sourceOf(provider: string, baseUrl: string, connection: PublishedConnection | null): Source
  /** Whether a read there is of this source, also when the operator lists its address, or no longer does. */
  isOf(source: Source, provider: string, baseUrl: string, connection: PublishedConnection | null): boolean
}

export interface PublishedConnection {
  readonly publishesAddress: boolean
  /** 32 bytes: its own, and never another's. */
  readonly sourceKey: Uint8Array
}

interface SourcesOptions {
  readonly config: Pick<WorkspacesConfig, 'sources'>
}

export function createSources({ config }: SourcesOptions): Sources {
  const listed = new Map(
    Object.entries(config.sources).map(([provider, urls]) => [provider, new Set(urls.map(normalAddress))]),
  )
  const isListed = (provider: string, baseUrl: string) => listed.get(provider)?.has(normalAddress(baseUrl)) ?? false

  return {
    isListed,
    listed: (provider) => [...(listed.get(provider) ?? [])],
    sourceOf(provider, url, connection) {
      const baseUrl = normalAddress(url)
      if (isListed(provider, baseUrl)) return { provider, listed: true, baseUrl }
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

/** @param type undefined where its plugin is not loaded */
export async function addressInReceipts(
  { provider, options, address, workspaceId }: Pick<ConnectionRow, 'provider' | 'options' | 'address' | 'workspaceId'>,
  type: HostedConnectionType | undefined,
  sources: Pick<Sources, 'isListed'>,
): Promise<AddressInReceipts> {
  try {
    return type && sources.isListed(provider, await type.baseUrl(options, { workspaceId, payer: workspaceId }))
      ? 'listed'
      : address
  } catch {
    // The plugin may have become stricter than it was when this was connected.
    return address
  }
}
