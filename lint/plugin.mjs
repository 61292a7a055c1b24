/** The rules of this project, as a plugin of oxlint. */
import { ownCollections } from './own-collections.mjs';
import { walls } from './walls.mjs';

export default { meta: { name: 'tidemark' }, rules: { walls, 'own-collections': ownCollections } };
