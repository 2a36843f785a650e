/** The services of the installation that the pages for everybody need. */
import type { ProfileList } from '@claimcheck/core/api'
import type { Instant } from '@claimcheck/core/rules'
import type { OwnAddress } from '../../config/address.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Feature } from '../../host/feature.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogService } from '../log/log.ts'
import type { ReceiptService } from '../receipts/receipts.ts'

export interface SiteDependencies {
  readonly log: LogService
  readonly storage: Storage
  readonly now: () => Instant
  readonly ownAddress: OwnAddress
  readonly receipts: ReceiptService
  readonly registry: Registry
  readonly features: readonly Pick<Feature, 'pages'>[]
  readonly keyDocument: () => Promise<object | string>
  readonly published: () => Promise<ProfileList>
  readonly isActive: (feature: string) => boolean
  readonly config: Pick<HostConfig, 'verifierPackage'> & {
    readonly securityContact: string | undefined
    readonly issuerName: string | undefined
  }
}
