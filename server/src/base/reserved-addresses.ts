/** Mail addresses that no mailbox has, by RFC 2606, for accounts that no longer have one of their own. No person may take such an address. */

const RESERVED = /[@.]invalid\.?$/i

export function isReservedAddress(address: string): boolean {
  return RESERVED.test(address)
}

/**
 * Makes the reserved address of an account.
 * @param why `closed`: the account was closed; `unconfirmed`: its address went to the person who reads the mails
 */
export function reservedAddress(userId: string, why: 'closed' | 'unconfirmed'): string {
  return `${userId.toLowerCase()}@${why}.invalid`
}
