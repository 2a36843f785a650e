/** A whole installation in a folder of its own, with a verifier that answers at once. Started by the benchmark. */
import { Installation } from '../../test/support/installation.ts'

const noLimits = { key: 0, receipts: 0, log: 0, refusals: 0 }
const installation = await Installation.start({ file: { rate_limits: noLimits } })
const { key } = await installation.client('bench')
process.send!({ url: installation.url, key })
process.on('disconnect', () => void installation.remove())
