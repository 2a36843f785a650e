/** The plugin deploy: checks that a revision is live, and what version an endpoint tells. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { connectionType as endpoint } from './endpoint/connection.ts'
import { versionAnswers } from './endpoint/version-answers.ts'
import { connectionType as kubernetes } from './kubernetes/connection.ts'
import { findImage } from './kubernetes/live.ts'
import { normalize, requireOwnParams } from './place.ts'
import { profile } from './profile.ts'
import { connectionType as vercel } from './vercel/connection.ts'
import { findDeployment } from './vercel/live.ts'

const FINDERS = { [kubernetes.provider]: findImage, [vercel.provider]: findDeployment }

/** A hundred pods with long specifications stay below it. */
const LONGEST_ANSWER_BYTES = 5 * 1024 * 1024

const revisionLive = defineVerifier({
  profile,
  providers: Object.keys(FINDERS),
  limits: { requests: 30, bodyBytes: LONGEST_ANSWER_BYTES },
  normalize,
  async check(claim, context) {
    requireOwnParams(claim)
    return FINDERS[context.connection!.provider]!(claim, context)
  },
})

export default definePlugin({
  name: 'deploy',
  api: 3,
  manifest: { hosts: ['api.vercel.com', 'connection.base_url', 'target'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [revisionLive, versionAnswers], connections: [kubernetes, vercel, endpoint] }),
})
