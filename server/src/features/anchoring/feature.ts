/** Anchoring: the log's root goes onto a public chain, which cannot be rewritten. */

import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { anchors } from '../../storage/anchor-row.ts'
import type { Anchoring } from './anchoring.ts'
import { addAnchorCommands } from './commands/anchor.ts'
import { examineAnchors } from './examine.ts'
import { anchorMetrics } from './metrics.ts'
import { anchoringMigrations } from './migrations.ts'

export interface Services extends Pick<HostServices, 'storage'> {
  readonly anchoring: Anchoring | undefined
  readonly anchorWorker: Worker
}

export const anchoringFeature = {
  name: 'anchoring',
  needs: ['log'],
  isOptional: true,
  stored: {
    tables: [{ table: anchors }],
    migrations: anchoringMigrations,
    examine: examineAnchors,
  },
  auditWords: {
    'anchor.forced': 'had the log anchored at once',
  },
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
