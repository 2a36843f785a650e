/** Names that people give: to themselves, and to their keys. */
import { ServiceError } from './errors.ts'

const LONGEST_NAME = 100

/** Without the space around it. @throws ServiceError `bad_request` */
export function readName(text: string): string {
  const name = text.trim()
  if (name.length === 0 || name.length > LONGEST_NAME || /\p{Cc}/u.test(name)) {
    throw new ServiceError('bad_request', `a name has 1 to ${LONGEST_NAME} characters`)
  }
  return name
}
