export { FollowedCopy } from './copy.js';
export { Crowd } from './crowd.js';
export { FOLLOWED, type Follows } from './follows.js';
export { PatientClient } from './patient-client.js';
export { pagesOf } from './pages.js';
