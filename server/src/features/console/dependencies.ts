/** What the console needs of the installation. */
import type { HostServices } from '../../host/container.ts'
import type { ConfigOf, ServicesOf } from '../../host/types.ts'
import type { auditTrailFeature } from '../audit-trail/feature.ts'
import type { claimsFeature } from '../claims/feature.ts'
import type { erasureFeature } from '../erasure/feature.ts'
import type { logFeature } from '../log/feature.ts'
import type { mailFeature } from '../mail/feature.ts'
import type { oauthFeature } from '../oauth/feature.ts'
import type { peopleFeature } from '../people/feature.ts'
import type { receiptsFeature } from '../receipts/feature.ts'
import type { workspacesFeature } from '../workspaces/feature.ts'

type Shown = readonly [
  typeof auditTrailFeature,
  typeof claimsFeature,
  typeof erasureFeature,
  typeof logFeature,
  typeof mailFeature,
  typeof oauthFeature,
  typeof peopleFeature,
  typeof receiptsFeature,
  typeof workspacesFeature,
]

export type ConsoleDependencies = HostServices & ServicesOf<Shown> & { readonly config: ConfigOf<Shown> }
