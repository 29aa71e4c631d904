//! Runs named transactions and named single statements; see [`crate::storage::database::transaction`].

use crate::storage::database::repeat::{TransactionError, repeated, repeated_after};
use crate::storage::database::transaction::{Ending, Transaction};
use crate::storage::error::may_repeat;
use crate::storage::{Class, Storage, StorageError};
use crate::telemetry::meters::{self, TransactionResult};
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::{Map, Query};

impl Storage {
    /// Runs a transaction of a request that changes data. `body` may be called again.
    pub(in crate::storage) async fn transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        self.transaction_for(Class::Write, name, body).await
    }

    /// As [`Self::transaction`], for this class of work.
    pub(in crate::storage) async fn transaction_for<T, E, F>(
        &self,
        class: Class,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.begin_for(class), body).await
    }

    /// As [`Self::transaction_for`], and repeats also after other errors that a new attempt can avoid.
    pub(in crate::storage) async fn transaction_after<T, E, F>(
        &self,
        class: Class,
        name: &'static str,
        may_repeat: impl Fn(&StorageError) -> bool,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.begin_for(class), body).await
    }

    /// As [`Self::transaction`], for work that loops over vaults: it has a short lock timeout.
    pub(in crate::storage) async fn sweep_transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.begin_sweep(), body).await
    }

    /// As [`Self::transaction`], on one of the connections for events.
    pub(in crate::storage) async fn event_transaction<T, E, F>(
        &self,
        name: &'static str,
        body: impl Fn(Transaction) -> F,
    ) -> Result<T, E>
    where
        E: TransactionError,
        F: Future<Output = Result<Ending<T>, E>>,
    {
        run(name, may_repeat, || self.event_writer(), body).await
    }

    /// Runs one statement that changes rows, as its own transaction, and returns the number of rows.
    pub(in crate::storage) async fn execute<'q>(
        &self,
        name: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<u64, StorageError> {
        self.execute_for(Class::Write, name, query).await
    }

    /// As [`Self::execute`], for this class of work.
    pub(in crate::storage) async fn execute_for<'q>(
        &self,
        class: Class,
        name: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<u64, StorageError> {
        let query = &query;
        let attempt = move || async move {
            let mut connection = self.primary_reader_for(class).await?;
            let done = query().execute(&mut *connection).await?;
            connection.commit().await?;
            Ok::<_, StorageError>(done.rows_affected())
        };
        let done = repeated(name, attempt).await;
        meters::transaction_ended(name, result(&done, true));
        done
    }

    /// As [`Self::execute`], for a statement that returns a row if it changed one.
    pub(in crate::storage) async fn fetch_optional<'q, O, M>(
        &self,
        name: &'static str,
        query: impl Fn() -> Map<'q, Postgres, M, PgArguments>,
    ) -> Result<Option<O>, StorageError>
    where
        M: FnMut(PgRow) -> Result<O, sqlx::Error> + Send,
        O: Send + Unpin,
    {
        self.fetch_optional_for(Class::Write, name, query).await
    }

    /// As [`Self::fetch_optional`], for this class of work.
    pub(in crate::storage) async fn fetch_optional_for<'q, O, M>(
        &self,
        class: Class,
        name: &'static str,
        query: impl Fn() -> Map<'q, Postgres, M, PgArguments>,
    ) -> Result<Option<O>, StorageError>
    where
        M: FnMut(PgRow) -> Result<O, sqlx::Error> + Send,
        O: Send + Unpin,
    {
        let query = &query;
        let attempt = move || async move {
            let mut connection = self.primary_reader_for(class).await?;
            let row = query().fetch_optional(&mut *connection).await?;
            connection.commit().await?;
            Ok::<_, StorageError>(row)
        };
        let done = repeated(name, attempt).await;
        meters::transaction_ended(name, result(&done, true));
        done
    }
}

async fn run<T, E, B, F>(
    name: &'static str,
    may_repeat: impl Fn(&StorageError) -> bool,
    begin: impl Fn() -> B,
    body: impl Fn(Transaction) -> F,
) -> Result<T, E>
where
    E: TransactionError,
    B: Future<Output = Result<Transaction, StorageError>>,
    F: Future<Output = Result<Ending<T>, E>>,
{
    let (begin, body) = (&begin, &body);
    let attempt = move || async move {
        let transaction = begin().await?;
        // Boxed, because the futures above it are moved during a request.
        Box::pin(body(transaction)).await?.end().await.map_err(E::from)
    };
    let done = repeated_after(name, may_repeat, attempt).await;
    let commits = done.as_ref().is_ok_and(|(_, commits)| *commits);
    meters::transaction_ended(name, result(&done, commits));
    done.map(|(value, _)| value)
}

fn result<T, E: TransactionError>(done: &Result<T, E>, commits: bool) -> TransactionResult {
    match done {
        Ok(_) if commits => TransactionResult::Committed,
        Err(error) if error.of_storage().is_some() => TransactionResult::Failed,
        _ => TransactionResult::RolledBack,
    }
}
