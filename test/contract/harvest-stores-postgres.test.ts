import { postgresCopies } from '../support/copies/postgres-copies.js';
import { storeContract } from './harvest-store-contract.js';

storeContract('PostgreSQL', postgresCopies);
