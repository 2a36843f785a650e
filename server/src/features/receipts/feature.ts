/** Receipts: the signed decisions of claims, served to everybody who has the id. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { publicPaths } from '../../web/paths.ts'
import { addReceiptCommands } from '../erasure/commands/receipt.ts'
import type { ReceiptService } from './receipts.ts'

export interface Services extends Pick<HostServices, 'isActive'> {
  readonly receipts: ReceiptService
}

export const receiptsFeature = {
  name: 'receipts',
  needs: ['log'],
  services: async () => {
    const { createReceiptService } = await import('./receipts.ts')
    return { receipts: createReceiptService }
  },
  routes: async ({ receipts, isActive }) => {
    const { receiptRoutes } = await import('./routes/receipts.ts')
    const pageOf = isActive('site') ? publicPaths.receipt : undefined
    return [{ scope: 'public', cost: 'receipt', add: (app) => receiptRoutes(app, receipts, pageOf) }]
  },
  commands: addReceiptCommands,
} satisfies Feature<Services>
