/** The services of the installation that the console needs. */
import type { HostServices } from '../../host/container.ts'
import type { Made } from '../../host/types.ts'
import type { SilenceService } from '../agent-watch/silence.ts'
import type { AuditTrailService } from '../audit-trail/audit-trail.ts'
import type { services as claims } from '../claims/services.ts'
import type { ErasureConfig } from '../erasure/config.ts'
import type { RetentionService } from '../erasure/retention.ts'
import type { EventStreams } from '../event-streams/streams.ts'
import type { services as hints } from '../hints/services.ts'
import type { LogService } from '../log/log.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { services as oauth } from '../oauth/services.ts'
import type { PeopleConfig } from '../people/config.ts'
import type { services as people } from '../people/services.ts'
import type { ReceiptService } from '../receipts/receipts.ts'
import type { Revisits } from '../revisits/revisits.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { services as workspaces } from '../workspaces/services.ts'

export interface ConsoleDependencies
  extends HostServices,
    Made<typeof oauth & typeof people & typeof workspaces & typeof claims & typeof hints> {
  readonly config: HostServices['config'] & PeopleConfig & ErasureConfig
  readonly auditTrail: AuditTrailService
  readonly receipts: ReceiptService
  readonly log: LogService
  readonly eventStreams: EventStreams
  readonly retention: RetentionService
  readonly silence: SilenceService
  readonly outbox: Outbox
  readonly webhooks: Webhooks
  readonly revisits: Revisits
}
