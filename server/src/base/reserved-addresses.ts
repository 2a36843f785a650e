/** Mail addresses that no mailbox has, by RFC 2606. Accounts have one where they have no address any more: none may be taken by a person. */

const RESERVED = /[@.]invalid\.?$/i

export function isReservedAddress(address: string): boolean {
  return RESERVED.test(address)
}

/** @param why `closed`; `unconfirmed`: it went to the person who reads its mails */
export function reservedAddress(userId: string, why: 'closed' | 'unconfirmed'): string {
  return `${userId.toLowerCase()}@${why}.invalid`
}
