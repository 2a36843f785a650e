/** Packages of verifiers that come beside the server's own, and that it loads where the operator names them. */
import { SHELF } from './shelf-table.ts'

export type ShelfPackage = (typeof SHELF)[number]

/** Lists those of which an installation loads no action. @param isLoaded tells whether it loads an action */
export function notLoaded(isLoaded: (action: string) => boolean): readonly ShelfPackage[] {
  return SHELF.filter(({ actions }) => !actions.some(({ action }) => isLoaded(action)))
}
