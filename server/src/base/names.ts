/** Names that people give: to themselves, and to their keys. Applications have names of that kind, too. */
import { ServiceError } from './errors.ts'

export const LONGEST_NAME = 100

/** Nothing that ends a line, or turns around what stands beside it. */
export function isReadable(name: string): boolean {
  return !/[\p{Cc}\p{Bidi_Control}]/u.test(name)
}

/** Without the space around it. @throws ServiceError `bad_request` */
export function readName(text: string): string {
  const name = text.trim()
  if (name.length === 0 || name.length > LONGEST_NAME || !isReadable(name)) {
    throw new ServiceError('bad_request', `a name has 1 to ${LONGEST_NAME} characters, and none that cannot be seen`)
  }
  return name
}
