/** The addresses at which destinations give hints, one for a connection, each with a secret by which its senders prove themselves. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import type { OwnAddress } from '../../config/address.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { HintAddressRow } from '../../storage/hints.ts'
import { hintContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'

interface HintAddressesOptions {
  readonly storage: Storage
  readonly registry: Pick<Registry, 'connectionType'>
  readonly secrets: Pick<Secrets, 'seal'>
  readonly ownAddress: OwnAddress
  readonly now: () => Instant
}

/** The path of the addresses. */
export const HINTS_PATH = '/v1/hints'

export interface HintAddress extends Pick<HintAddressRow, 'secretSince' | 'heardAt'> {
  readonly url: string
}

/** An address with its secret, which is shown this one time. */
export interface NewHintAddress {
  readonly url: string
  readonly secret: string
}

export type HintAddresses = ReturnType<typeof createHintAddresses>

export function createHintAddresses({ storage, registry, secrets, ownAddress, now }: HintAddressesOptions) {
  const urlOf = (address: string) => `${ownAddress.url()}${HINTS_PATH}/${address}`

  /** @throws ServiceError `not_found`, also for a connection of another workspace, and for one whose destination gives no hints */
  async function requireConnection(tx: Pick<Writes, 'connections'>, id: string, workspaceId: string) {
    const row = await tx.connections.activeById(id)
    const isThere = row?.workspaceId === workspaceId
    if (!isThere || !registry.connectionType(row.provider)?.hints?.length)
      throw new ServiceError('not_found', `there is no connection ${id} that takes hints`)
    return row
  }

  return {
    /** Returns the address of a connection; undefined where hints are switched off. */
    async of(connectionId: string): Promise<HintAddress | undefined> {
      const row = await storage.read.hints.addressOf(connectionId)
      return row && { url: urlOf(row.address), secretSince: row.secretSince, heardAt: row.heardAt }
    },
    /**
     * Switches the hints of a connection on, or gives its address another secret: the one before proves nothing from then on.
     * @throws ServiceError `not_found`
     */
    give(connectionId: string, workspaceId: string, by: Acting): Promise<NewHintAddress> {
      const secret = newToken()
      return storage.write(async (tx) => {
        const { provider } = await requireConnection(tx, connectionId, workspaceId)
        const address = newToken()
        const sealed = (of: string) => secrets.seal(secret, hintContext(of))
        const made = { connectionId, workspaceId, secretSince: now(), heardAt: null }
        const row = await tx.hints.give({ ...made, address, sealedSecret: sealed(address) })
        const isNew = row.address === address
        if (!isNew) await tx.hints.replaceSecret({ ...made, address: row.address, sealedSecret: sealed(row.address) })
        const event = isNew ? 'connection.hints_allowed' : 'connection.hints_secret_replaced'
        tx.audit.record({ event, at: now(), by, workspaceId, subject: connectionId, details: { provider } })
        return { url: urlOf(row.address), secret }
      })
    },
    /** Switches the hints of a connection off. @throws ServiceError `not_found` */
    end(connectionId: string, workspaceId: string, by: Acting): Promise<void> {
      return storage.write(async (tx) => {
        const { provider } = await requireConnection(tx, connectionId, workspaceId)
        if (!(await tx.hints.end(connectionId))) return
        const event = 'connection.hints_ended'
        tx.audit.record({ event, at: now(), by, workspaceId, subject: connectionId, details: { provider } })
      })
    },
  }
}
