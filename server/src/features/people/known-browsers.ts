/**
 * Browsers that are known to have signed in to an account. The browser keeps a random id and, for each account, a mark that only this
 * service can make. A mark holds for one password: a new one ends it everywhere.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../base/secrets.ts'
import type { Storage } from '../../storage/storage.ts'
import type { User } from './sessions.ts'

/** An account with the number that its password changes. */
type MarkedAccount = Pick<User, 'id' | 'generation'>

const MOST_ACCOUNTS = 5
/** Matches a browser's cookie: an id and marks, all in base64url. */
const FORM = new RegExp(`^[\\w-]{22}(?:\\.[\\w-]{43}){1,${MOST_ACCOUNTS}}$`)

interface KnownBrowsersParts {
  readonly storage: Pick<Storage, 'read'>
  readonly secrets: Pick<Secrets, 'derive'>
}

/** Makes the service. The parameter `kept` of each method is the value of the browser's cookie. */
export function createKnownBrowsers(parts: KnownBrowsersParts) {
  function markOf(browserId: string, { id, generation }: MarkedAccount): string {
    // Reads `parts.secrets` here and not above, because opening the secrets creates the key file.
    const key = parts.secrets.derive('known browsers')
    return createHmac('sha256', key)
      .update(JSON.stringify([browserId, id, generation]))
      .digest('base64url')
  }

  /** Finds the id of the browser, if it is known to have signed in to the account. */
  function idFor(kept: string | undefined, user: MarkedAccount): string | undefined {
    const browser = read(kept)
    return browser && has(browser.marks, markOf(browser.id, user)) ? browser.id : undefined
  }

  return {
    idFor,
    /** Finds the id of the browser, if it is known to have signed in to the account with this e-mail address. */
    async idForEmail(kept: string | undefined, email: string): Promise<string | undefined> {
      if (!read(kept)) return undefined
      const user = await parts.storage.read.users.byEmail(email.trim().toLowerCase())
      return user && idFor(kept, user)
    },
    /** Returns the value that the browser is to keep from now on; undefined when it does so already. */
    add(kept: string | undefined, user: MarkedAccount): string | undefined {
      const { id, marks } = read(kept) ?? { id: randomBytes(16).toString('base64url'), marks: [] }
      const mark = markOf(id, user)
      if (has(marks, mark)) return undefined
      return [id, mark, ...marks.slice(0, MOST_ACCOUNTS - 1)].join('.')
    },
  }
}

function read(kept: string | undefined) {
  if (kept === undefined || !FORM.test(kept)) return undefined
  const [id = '', ...marks] = kept.split('.')
  return { id, marks }
}

function has(marks: readonly string[], mark: string): boolean {
  return marks.some((one) => timingSafeEqual(Buffer.from(one), Buffer.from(mark)))
}
