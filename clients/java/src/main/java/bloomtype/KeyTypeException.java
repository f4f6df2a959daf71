package bloomtype;

/** A key, or a filter, of another type than the filter holds. */
public final class KeyTypeException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    KeyTypeException(KeyType filter, KeyType given) {
        super("key type " + given + ", where the filter holds keys of type " + filter);
    }
}
