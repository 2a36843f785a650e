/** Anchoring: the log's root goes onto a public chain, which cannot be rewritten. */

import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { Anchoring } from './anchoring.ts'
import { anchoringAuditWords } from './audit-words.ts'
import { addAnchorCommands } from './commands/anchor.ts'
import { anchorMetrics } from './metrics.ts'
import { anchoringStored } from './stored.ts'

export interface Services extends Pick<HostServices, 'storage'> {
  readonly anchoring: Anchoring | undefined
  readonly anchorWorker: Worker
}

export const anchoringFeature = {
  name: 'anchoring',
  needs: ['log'],
  isOptional: true,
  stored: anchoringStored,
  auditWords: anchoringAuditWords,
  services: async () => {
    const [{ createAnchoring }, { createAnchorWorker }] = await Promise.all([
      import('./anchoring.ts'),
      import('./anchor-worker.ts'),
    ])
    return { anchoring: createAnchoring, anchorWorker: createAnchorWorker }
  },
  workers: ({ anchorWorker }) => [anchorWorker],
  metrics: anchorMetrics,
  commands: addAnchorCommands,
} satisfies Feature<Services>
