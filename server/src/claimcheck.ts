/** The service with its features. */
import { type Config, FEATURES } from './features.ts'
import { type HostServices, type OpenOptions, openInstallation } from './host/container.ts'
import type { Feature } from './host/feature.ts'
import type { Complete, ServicesOf } from './host/types.ts'

/** The services of an open installation, by name. */
export type Claimcheck = Omit<HostServices, 'config'> & ServicesOf<typeof FEATURES> & { readonly config: Config }

const COMPLETE: readonly Complete<Claimcheck>[] = FEATURES

/**
 * Opens an installation.
 * @param more features besides those of the service
 * @throws StorageError, PluginError
 */
export function openClaimcheck(
  config: Config,
  options: OpenOptions,
  more: readonly Feature[] = [],
): Promise<Claimcheck> {
  return openInstallation<Claimcheck>([...COMPLETE, ...more], config, options)
}
