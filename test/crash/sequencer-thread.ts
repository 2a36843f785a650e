/** The sequencer's thread of a host that can be struck. */
import { openClaimcheck } from '@claimcheck/server/container'
import { runSequencerThread } from '@claimcheck/server/log/thread/serve'
import { beforeStatement } from './strike.ts'

await runSequencerThread((config) => openClaimcheck(config, { plugins: false, beforeStatement }))
